/** A thread that runs the programs that it is sent. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import * as library from '../../src/index.js'
import { outcomesOf } from './outcomes.js'
import type { Program } from './program.js'

interface Task {
  readonly program: Program
  readonly ptl: Uint8Array
  readonly port: MessagePort
}

parentPort!.on('message', ({ program, ptl, port }: Task) => {
  const open = (): Promise<library.Module> => library.loadModule(ptl, { onWarning: () => undefined })
  void outcomesOf(library, program, open).then((outcomes) => {
    port.postMessage(outcomes)
    port.close()
  })
})
