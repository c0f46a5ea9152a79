// Overlaps of rotated rectangles: one is cut along the sides of the other (Sutherland and Hodgman).
#include <cmath>

#include "dispatch/kernel.h"
#include "frames/detection.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

struct Point {
  double x, y;
};

/// A convex polygon; one that has been cut along four sides has eight corners at most.
struct Polygon {
  Point corners[8];
  int count;
};

constexpr double kDegree = 3.14159265358979323846 / 180;
/// Areas up to this are none.
constexpr double kNoArea = 1e-14;

/// The rectangle's corners beside a common origin, in the order in which its inside lies on the left, or on the right where a size is negative.
template <class T>
Polygon rectangle(const T* box, Point origin) {
  const double angle = double(box[4]) * kDegree;
  const double c = std::cos(angle) / 2, s = std::sin(angle) / 2;
  const double w = double(box[2]), h = double(box[3]), x = double(box[0]) - origin.x, y = double(box[1]) - origin.y;
  const Point along{c * w, -s * w}, across{s * h, c * h};
  return {{{x - along.x - across.x, y - along.y - across.y},
           {x + along.x - across.x, y + along.y - across.y},
           {x + along.x + across.x, y + along.y + across.y},
           {x - along.x + across.x, y - along.y + across.y}},
          4};
}

/// Twice the area of the triangle (a, b, p): above 0 where p lies on the left of the line from a to b.
double side(Point a, Point b, Point p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

/// What of the polygon lies on the left of the line from a to b.
Polygon cut(const Polygon& from, Point a, Point b) {
  Polygon left;
  left.count = 0;
  for (int i = 0; i < from.count; i++) {
    const Point p = from.corners[i], q = from.corners[(i + 1) % from.count];
    const double at_p = side(a, b, p), at_q = side(a, b, q);
    if (at_p >= 0 && left.count < 8) left.corners[left.count++] = p;
    if ((at_p < 0) != (at_q < 0) && left.count < 8) {
      const double t = at_p / (at_p - at_q);
      left.corners[left.count++] = {p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)};
    }
  }
  return left;
}

double area(const Polygon& of) {
  double twice = 0;
  for (int i = 2; i < of.count; i++) twice += side(of.corners[0], of.corners[i - 1], of.corners[i]);
  return std::fabs(twice) / 2;
}

template <class T>
double overlap(const T* a, const T* b) {
  const double first = double(a[2]) * double(a[3]), second = double(b[2]) * double(b[3]);
  if (first < kNoArea || second < kNoArea) return 0;
  // far from the origin of the image coordinates would lose digits
  const Point middle{(double(a[0]) + double(b[0])) / 2, (double(a[1]) + double(b[1])) / 2};
  Polygon common = rectangle(a, middle);
  const Polygon other = rectangle(b, middle);
  const bool turned = (b[2] < 0) != (b[3] < 0);
  for (int i = 0; i < 4; i++) {
    const Point p = other.corners[i], q = other.corners[(i + 1) % 4];
    common = turned ? cut(common, q, p) : cut(common, p, q);
  }
  const double shared = area(common);
  return shared / (first + second - shared);
}

template <class T>
int32_t run(const box_iou_rotated_frame* f) {
  const T* first = reinterpret_cast<const T*>(f->first);
  const T* second = reinterpret_cast<const T*>(f->second);
  auto* out = reinterpret_cast<float*>(f->out);
  ptlite::Pace pace;
  for (int64_t i = 0; i < f->rows; i++) {
    for (int64_t j = 0; j < f->columns; j++) {
      pace.after(200);
      *out++ = float(overlap(first + 5 * i, second + 5 * j));
    }
  }
  return PTLITE_OK;
}

int32_t box_iou_rotated_run(box_iou_rotated_frame* f) { return f->dtype == elem::F64 ? run<double>(f) : run<float>(f); }

}  // namespace

PTLITE_KERNEL(box_iou_rotated, box_iou_rotated_run)
