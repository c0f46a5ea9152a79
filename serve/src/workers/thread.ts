/** A thread of the pool: holds models, and runs one request or batch at a time. */
import { parentPort, workerData } from 'node:worker_threads'
import { memoryStats } from 'ptlite'
import { failureOf, HostedModel } from './hosted-model.js'
import type { Loaded, ModelStart, Reply, Request, RunRequest, WorkerSettings } from './messages.js'
import { giveWay } from './priority.js'
import { buffersOf } from './transfer.js'

giveWay((workerData as WorkerSettings).nice)

const port = parentPort!
const models = new Map<number, HostedModel>()
const running = new Map<number, AbortController>()
/** A number is taken from the pool by one load, and given back by one unload, which may come first. */
const unloaded = new Set<number>()

function reply(message: Reply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

async function load(start: ModelStart): Promise<void> {
  const { slot } = start
  const empty = { kind: 'loaded', slot, inputs: null, outputs: null, milliseconds: null, rows: null, warning: null, results: null } as const
  let model: HostedModel | null = null
  try {
    const step = (milliseconds: number): void => reply({ kind: 'step', slot, milliseconds })
    step(start.milliseconds)
    model = await HostedModel.load(start, (text) => reply({ kind: 'warning', slot, text }))
    const { milliseconds, results, rows, warning } = await model.warmUp(step)
    if (unloaded.delete(slot)) throw new Error('it was unloaded meanwhile')
    models.get(slot)?.dispose()
    models.set(slot, model)
    const { inputs, outputs } = model.module
    const shapes = results?.map(({ value: { datatype, shape } }) => ({ datatype, shape })) ?? null
    reply({ ...empty, inputs, outputs, milliseconds, rows, warning, results: shapes, failure: null } satisfies Loaded)
  } catch (error) {
    model?.dispose()
    reply({ ...empty, failure: failureOf(error) })
  }
}

async function run(request: RunRequest): Promise<void> {
  const { id, slot } = request
  const controller = new AbortController()
  running.set(id, controller)
  try {
    const model = models.get(slot)
    if (model === undefined) throw new Error('the model is not in this thread')
    const { outputs, durations } = await model.run(request, controller.signal)
    const results = buffersOf(outputs.map(({ value }) => value))
    // tensors have copies
    const returned = buffersOf(request.parts.flat())
    reply({ kind: 'result', id, failure: null, outputs, returned, durations }, [...results, ...returned])
  } catch (error) {
    reply({ kind: 'result', id, failure: failureOf(error), outputs: [], returned: [], durations: { input: 0, infer: 0, output: 0 } })
  } finally {
    running.delete(id)
  }
}

port.on('message', (request: Request) => {
  switch (request.kind) {
    case 'load':
      void load(request.start)
      return
    case 'run':
      void run(request)
      return
    case 'cancel':
      running.get(request.id)?.abort()
      return
    case 'end sequence':
      models.get(request.slot)?.endSequence(request.id)
      return
    case 'unload':
      if (!models.has(request.slot)) unloaded.add(request.slot)
      models.get(request.slot)?.dispose()
      models.delete(request.slot)
  }
})

const USAGE_INTERVAL = 2000
setInterval(() => {
  reply({ kind: 'usage', tensorBytes: memoryStats().live, heapBytes: process.memoryUsage().heapUsed })
}, USAGE_INTERVAL).unref()
