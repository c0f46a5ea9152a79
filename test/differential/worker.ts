import { MessageChannel, Worker } from 'node:worker_threads'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runnable } from '../support/node.js'
import type { Files } from './modes.js'
import type { Outcomes } from './outcomes.js'
import type { Program } from './program.js'

const CHILD = fileURLToPath(new URL('worker-child.ts', import.meta.url))

let worker: Worker | undefined

/** Runs a program in a thread that loads the library for itself; one thread runs them all. */
export async function outcomesInWorker(program: Program, { ptl }: Files): Promise<Outcomes> {
  if (worker === undefined) {
    const file = pathToFileURL(runnable(CHILD)).href
    // threads know no TypeScript by themselves
    const first = file.endsWith('.ts') ? "(await import('tsx/esm/api')).register()" : ''
    worker = new Worker(`void (async () => { ${first}; await import(${JSON.stringify(file)}) })()`, { eval: true })
    worker.unref()
  }
  const { port1, port2 } = new MessageChannel()
  const answer = new Promise<Outcomes>((resolve, reject) => {
    port1.once('message', resolve)
    worker!.once('error', reject)
  })
  try {
    worker.postMessage({ program, ptl, port: port2 }, [port2])
    return await answer
  } catch (error) {
    worker = undefined
    return { call: 0, failure: error instanceof Error ? `${error.stack}` : String(error) }
  } finally {
    worker?.removeAllListeners('error')
    port1.close()
  }
}
