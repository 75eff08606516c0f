// SPDX-License-Identifier: GPL-3.0-or-later
// Every text that a widget paints, with the size of its letters on the device and its colour: the basis for tests of
// presentation and contrast.
#pragma once
#include <QFontInfo>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QWidget>
#include <cmath>
#include <vector>

namespace rankscope::app {

struct PaintedText {
  QString words;
  double pixels = 0;  ///< of its font, as it is on the device
  QColor ink;
  QRectF box;  ///< on the device
};

class TextRecorder : public QPaintDevice {
 public:
  explicit TextRecorder(QSize size) : size_(size), engine_(texts_) {}
  QPaintEngine* paintEngine() const override { return &engine_; }
  const std::vector<PaintedText>& texts() const { return texts_; }

 protected:
  int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmWidth: return size_.width();
      case PdmHeight: return size_.height();
      case PdmDepth: return 32;
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY: return 96;
      case PdmNumColors: return 1 << 24;
      case PdmDevicePixelRatio: return 1;
      case PdmDevicePixelRatioScaled: return static_cast<int>(devicePixelRatioFScale());
      default: return 0;
    }
  }

 private:
  class Engine : public QPaintEngine {
   public:
    explicit Engine(std::vector<PaintedText>& texts) : QPaintEngine(AllFeatures), texts_(texts) {}
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    Type type() const override { return User; }
    void updateState(const QPaintEngineState& now) override {
      if (now.state() & DirtyTransform) transform_ = now.transform();
      if (now.state() & DirtyPen) pen_ = now.pen();
    }
    void drawTextItem(const QPointF& at, const QTextItem& item) override {
      if (item.text().trimmed().isEmpty()) return;
      const double scale = std::sqrt(std::fabs(transform_.determinant()));
      const QRectF box(at.x(), at.y() - item.ascent(), item.width(), item.ascent() + item.descent());
      texts_.push_back(
          {item.text(), QFontInfo(item.font()).pixelSize() * scale, pen_.color(), transform_.mapRect(box)});
    }
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {}
    void drawPath(const QPainterPath&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawRects(const QRectF*, int) override {}
    void drawRects(const QRect*, int) override {}
    void drawLines(const QLineF*, int) override {}
    void drawLines(const QLine*, int) override {}
    void drawEllipse(const QRectF&) override {}
    void drawPoints(const QPointF*, int) override {}

   private:
    std::vector<PaintedText>& texts_;
    QTransform transform_;
    QPen pen_;
  };

  QSize size_;
  std::vector<PaintedText> texts_;
  mutable Engine engine_;
};

/// The texts on the widget now; parts of texts that are cut off are included.
inline std::vector<PaintedText> painted_texts(QWidget& widget) {
  TextRecorder recorder(widget.size());
  QPainter painter(&recorder);
  widget.render(&painter);
  painter.end();
  std::vector<PaintedText> seen;
  for (const PaintedText& text : recorder.texts())
    if (text.box.intersects(QRectF(widget.rect()))) seen.push_back(text);
  return seen;
}

}  // namespace rankscope::app
