import type { Spec } from './spec.js'

/** Elements, bytes and operations from which on a call may take long: until a budget can end it, it is no finding, and where it is seen beforehand it is not made. */
export const EXPECTED_LONG = 2 ** 31

/** Whether a tensor among the arguments has more elements than that: one element repeated. */
export function isEndless(args: readonly Spec[]): boolean {
  const shapes = [...JSON.stringify(args).matchAll(/"shape":\[([\d,]*)\]/g)].map(([, sizes]) => sizes!.split(',').map(Number))
  return shapes.some((shape) => shape.reduce((a, b) => a * Math.max(b, 1), 1) > EXPECTED_LONG)
}
