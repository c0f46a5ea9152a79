import * as features from '../features.js'

/** Is told the position in the operator table of each operator that is called by way of its dispatch. */
export type CallObserver = (operator: number) => void

let observer: CallObserver | null = null

/** Traces note operators that others call. */
export function observeCalls(other: CallObserver | null): void {
  observer = other
}

/** An unboxed function with dispatch begins. */
export function noteCall(operator: number): void {
  if (features.compiler && observer !== null) observer(operator)
}
