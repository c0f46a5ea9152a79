import { type Input, loadModule, type Module, type Output } from '../../src/index.js'

/** The files of a program. */
export interface Files {
  readonly pt: Uint8Array
  readonly ptl: Uint8Array
  readonly ff: Uint8Array
}

/** A module that is run in one of the ways that there are. */
export interface Runner {
  call(method: string, args: readonly Input[]): Output | Promise<Output>
  attribute(name: string): Output
  dispose(): void
}

export interface Mode {
  readonly name: string
  /** Whether values that are the same, or share memory, can be told. */
  readonly tellsSharing: boolean
  open(files: Files): Promise<Runner>
}

function byCall(name: string, file: keyof Files, compile: 'off' | 'auto' | 'eager'): Mode {
  return {
    name,
    tellsSharing: true,
    async open(files) {
      const module = await loadModule(files[file], { compile, onWarning: () => undefined })
      return runnerOf(module, (method, args) => module.call(method, args))
    },
  }
}

function runnerOf(module: Module, call: Runner['call']): Runner {
  return { call, attribute: (name) => module.getAttribute(name), dispose: () => module.dispose() }
}

/** What all others are compared with: the interpreter of the converted file. */
export const TRUTH = byCall('.ptl, off', 'ptl', 'off')

export const MODES: readonly Mode[] = [
  byCall('.pt, off', 'pt', 'off'),
  byCall('.ff, off', 'ff', 'off'),
  byCall('.ptl, auto', 'ptl', 'auto'),
  byCall('.ptl, eager', 'ptl', 'eager'),
  {
    name: 'run()',
    tellsSharing: false,
    async open(files) {
      const module = await loadModule(files.ptl, { onWarning: () => undefined })
      return runnerOf(module, (method, args) => module.run(method, args))
    },
  },
]
