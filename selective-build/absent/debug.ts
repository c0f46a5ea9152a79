import type { DebugInfo } from '../../program/program.js'

/** Without debug information errors name functions and instructions instead of source lines. */
export class PickledDebugInfo implements DebugInfo {
  stackTraceAt(): undefined {
    return undefined
  }
}

export function debugHandlesOf(): ReadonlyMap<string, Int32Array> {
  return new Map()
}
