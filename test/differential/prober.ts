import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nodeArguments } from '../support/node.js'
import type { Program } from './program.js'

const CHILD = fileURLToPath(new URL('probe-child.ts', import.meta.url))

/** Finds out which programs end the process that runs them in a mode. */
export class Prober {
  private child: ChildProcess | undefined

  constructor(private readonly mode: string) {}

  ends(program: Program): Promise<boolean> {
    const child = (this.child ??= this.start())
    return new Promise((resolve) => {
      const onMessage = (): void => settle(false)
      const onClose = (): void => {
        this.child = undefined
        settle(true)
      }
      const settle = (ended: boolean): void => {
        child.off('message', onMessage).off('close', onClose)
        resolve(ended)
      }
      child.on('message', onMessage).on('close', onClose)
      child.send(program)
    })
  }

  dispose(): void {
    this.child?.kill()
  }

  private start(): ChildProcess {
    const [file, ...first] = nodeArguments(CHILD).reverse()
    return fork(file!, [this.mode], { execArgv: first, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  }
}
