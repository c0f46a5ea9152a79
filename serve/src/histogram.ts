import type { Metric, Registry } from 'prom-client'

type Labels = Readonly<Record<string, string>>

/** Observations with the same labels, by bucket. */
export class Series {
  readonly counts: Float64Array
  sum = 0

  constructor(
    readonly labels: Labels,
    private readonly bounds: readonly number[],
  ) {
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds } = this
    let i = 0
    while (i < bounds.length && value > bounds[i]!) i++
    this.counts[i]!++
    this.sum += value
  }
}

interface Value {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** A histogram as Prometheus has it, for a registry of prom-client, whose own takes several times as long for an observation. */
export class Histogram {
  private readonly series = new Map<string, Series>()

  /** `bounds` of buckets ascend. */
  constructor(
    readonly name: string,
    private readonly help: string,
    private readonly bounds: readonly number[],
    registry: Registry,
  ) {
    // what a registry wants of a metric is a name and `get`
    registry.registerMetric(this as unknown as Metric)
  }

  /** Observations with these labels: the same ones until they are removed. */
  labels(labels: Labels): Series {
    const key = JSON.stringify(labels)
    let found = this.series.get(key)
    if (found === undefined) this.series.set(key, (found = new Series(labels, this.bounds)))
    return found
  }

  remove(labels: Labels): void {
    this.series.delete(JSON.stringify(labels))
  }

  get(): { readonly name: string; readonly help: string; readonly type: string; readonly values: readonly Value[] } {
    const { name, help } = this
    return { name, help, type: 'histogram', values: [...this.series.values()].flatMap((each) => this.valuesOf(each)) }
  }

  /** A bucket has what the smaller ones have, too. */
  private valuesOf({ labels, counts, sum }: Series): Value[] {
    const { name, bounds } = this
    let count = 0
    const buckets = [...bounds, '+Inf'].map((le, i): Value => {
      count += counts[i]!
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
    })
    return [...buckets, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
  }
}
