/** What the panels of an open model share: what the file holds, the method and arguments that were chosen, and what was measured. */
export class ModelState {
  context
  report
  method
  /** The arguments of the last run, as the worker takes them; null before there are any. */
  args = null
  profile = null
  goTo = () => {}
  #listeners = new Map()

  constructor(context, report) {
    this.context = context
    this.report = report
    this.method = (report.methods.find(({ name }) => name === 'forward') ?? report.methods[0])?.name ?? null
  }

  call(name, input) {
    return this.context.engine.call(name, 'model', input)
  }

  /** Why it cannot be run; null where it can. */
  get refusal() {
    const { missing, methods, compiled } = this.report
    if (missing.length > 0)
      return `${missing.length === 1 ? 'An operator is' : `${missing.length} operators are`} missing in this build: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}`
    if (compiled?.unusable)
      return `Its plans cannot be used here: ${compiled.unusable}. Open ${compiled.original}, which it was compiled from, in its place`
    return methods.length === 0 ? 'It has no methods' : null
  }

  on(event, listener) {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener])
  }

  tell(event) {
    for (const listener of this.#listeners.get(event) ?? []) listener()
  }
}

/** Of the instruction that a node or an event is of. */
export function placeKey(place) {
  return place === null || place === undefined ? null : `${place.function} ${place.instruction}`
}
