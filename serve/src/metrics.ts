import { collectDefaultMetrics, Counter, type CounterConfiguration, Gauge, type GaugeConfiguration, Histogram, Registry } from 'prom-client'

/** From a tenth of a millisecond to half a minute. */
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const PER_SECOND = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
const ROWS = [1, 2, 4, 8, 16, 32, 64, 128]
const MODEL = ['model', 'version'] as const

/** Takes the observations of one version of a model. */
type Series = Histogram.Internal<string>
type Count = Counter.Internal

/** Metrics of one version of a model, whose labels are looked up once. */
export interface ModelMetrics {
  readonly request: Series
  readonly wait: Series
  readonly run: Series
  readonly rows: Series
  /** Of language models: from a request to its first token, and tokens behind that in a second. */
  readonly firstToken: Series
  readonly tokensPerSecond: Series
  readonly promptTokens: Count
  readonly completionTokens: Count
  /** By status of HTTP, or what is like it in gRPC. */
  answered(status: number): void
  remove(): void
}

interface StatusCounts {
  readonly labels: { readonly model: string; readonly version: string }
  readonly counts: Map<number, number>
}

/** Numbers that are asked of others when metrics are read. */
export interface Sources {
  sequences(): Iterable<{ readonly model: string; readonly version: string; readonly running: number; readonly waiting: number }>
  queues(): Iterable<{ readonly model: string; readonly version: string; readonly waiting: number; readonly pending: number }>
  workers(): Iterable<{ readonly index: number; readonly tensorBytes: number; readonly heapBytes: number; readonly busy: boolean }>
  bodyBytes(): number
}

/** What Prometheus reads. */
export class Metrics {
  private readonly registry = new Registry()
  /** Requests of models by status, which are counted here and told when metrics are read. */
  private readonly answered = new Map<string, StatusCounts>()
  private readonly request = this.histogram('request_seconds', 'From a request to its answer', SECONDS)
  private readonly wait = this.histogram('queue_seconds', 'From a request to its run', SECONDS)
  private readonly run = this.histogram('run_seconds', 'Runs of models, of a batch or a request', SECONDS)
  private readonly rows = this.histogram('batch_size', 'Rows of a run', ROWS)
  private readonly firstToken = this.histogram('first_token_seconds', 'From a request to its first token', SECONDS)
  private readonly tokensPerSecond = this.histogram(
    'tokens_per_second',
    'Tokens of a request in a second, behind its first one',
    PER_SECOND,
  )
  private readonly tokens = new Counter({
    ...this.named('tokens_total', 'Tokens by kind: prompt or completion'),
    labelNames: [...MODEL, 'kind'],
  })
  readonly restarts = new Counter(this.named('worker_restarts_total', 'Worker threads that ended and were replaced'))
  readonly reloads = new Counter({ ...this.named('loads_total', 'Models that were loaded, by outcome'), labelNames: ['model', 'outcome'] })

  constructor(sources: () => Sources) {
    collectDefaultMetrics({ register: this.registry })
    this.read(Counter, 'requests_total', 'Requests for inference by status', [...MODEL, 'status'], (counter) => {
      for (const { labels, counts } of this.answered.values())
        for (const [status, count] of counts) counter.inc({ ...labels, status }, count)
    })
    this.read(Gauge, 'queue_depth', 'Requests that wait for a worker', [...MODEL], (gauge) => {
      for (const { model, version, waiting } of sources().queues()) gauge.set({ model, version }, waiting)
    })
    this.read(Gauge, 'sequences', 'Texts that are generated, and those that wait for a slot', [...MODEL, 'state'], (gauge) => {
      for (const { model, version, running, waiting } of sources().sequences()) {
        gauge.set({ model, version, state: 'running' }, running)
        gauge.set({ model, version, state: 'waiting' }, waiting)
      }
    })
    this.read(Gauge, 'in_flight', 'Requests without an answer', [...MODEL], (gauge) => {
      for (const { model, version, pending } of sources().queues()) gauge.set({ model, version }, pending)
    })
    this.read(Gauge, 'worker_tensor_bytes', 'Memory of tensors in use, by worker', ['worker'], (gauge) => {
      for (const { index, tensorBytes } of sources().workers()) gauge.set({ worker: String(index) }, tensorBytes)
    })
    this.read(Gauge, 'worker_heap_bytes', 'Memory of JavaScript in use, by worker', ['worker'], (gauge) => {
      for (const { index, heapBytes } of sources().workers()) gauge.set({ worker: String(index) }, heapBytes)
    })
    this.read(Gauge, 'workers_busy', 'Worker threads that run a model', [], (gauge) => {
      gauge.set([...sources().workers()].filter(({ busy }) => busy).length)
    })
    this.read(Gauge, 'body_bytes', 'Bodies of requests that are in memory', [], (gauge) => gauge.set(sources().bodyBytes()))
  }

  get contentType(): string {
    return this.registry.contentType
  }

  text(): Promise<string> {
    return this.registry.metrics()
  }

  of(model: string, version: string): ModelMetrics {
    const labels = { model, version }
    const key = JSON.stringify(labels)
    const counts = this.answered.get(key)?.counts ?? new Map<number, number>()
    this.answered.set(key, { labels, counts })
    return {
      request: this.request.labels(labels),
      wait: this.wait.labels(labels),
      run: this.run.labels(labels),
      rows: this.rows.labels(labels),
      firstToken: this.firstToken.labels(labels),
      tokensPerSecond: this.tokensPerSecond.labels(labels),
      promptTokens: this.tokens.labels({ ...labels, kind: 'prompt' }),
      completionTokens: this.tokens.labels({ ...labels, kind: 'completion' }),
      answered: (status) => counts.set(status, (counts.get(status) ?? 0) + 1),
      remove: () => {
        for (const each of [this.request, this.wait, this.run, this.rows, this.firstToken, this.tokensPerSecond]) each.remove(labels)
        for (const kind of ['prompt', 'completion']) this.tokens.remove({ ...labels, kind })
      },
    }
  }

  private named(name: string, help: string): { name: string; help: string; registers: Registry[] } {
    return { name: `ptlite_serve_${name}`, help, registers: [this.registry] }
  }

  private histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return new Histogram({ ...this.named(name, help), labelNames: [...MODEL], buckets: [...buckets] })
  }

  /** A metric whose numbers are asked for when it is read. */
  private read<M extends Counter | Gauge>(
    Metric: new (configuration: CounterConfiguration<string> & GaugeConfiguration<string>) => M,
    name: string,
    help: string,
    labelNames: string[],
    fill: (metric: M) => void,
  ): void {
    const collect = (): void => {
      metric.reset()
      fill(metric)
    }
    const metric = new Metric({ ...this.named(name, help), labelNames, collect })
  }
}
