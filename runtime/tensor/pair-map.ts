/** A map whose keys are pairs. */
export class PairMap<A, B, T> {
  private rows: Map<A, Map<B, T>> | undefined

  get(a: A, b: B): T | undefined {
    return this.rows?.get(a)?.get(b)
  }

  /** Returns the value. */
  set(a: A, b: B, value: T): T {
    const rows = (this.rows ??= new Map<A, Map<B, T>>())
    let row = rows.get(a)
    if (row === undefined) rows.set(a, (row = new Map<B, T>()))
    row.set(b, value)
    return value
  }
}
