import type { ScriptModule } from '../../../interpreter/script-module.js'
import { loadProgram } from '../../../engine/load-program.js'
import type { LoadOptions } from '../../../engine/options.js'
import { p, pickle } from '../../module/pickle-writer.js'
import { zip } from '../../module/zip-writer.js'

const text = (value: string): Uint8Array => new Uint8Array(Buffer.from(value))

/** An archive whose module is of class `__torch__.M`, without attributes, and has this code in `code/__torch__.py`. */
export function scriptArchive(code: string, version = '10', constants: Uint8Array = pickle(p.emptyTuple)): Uint8Array {
  const root = pickle(p.global('__torch__', 'M'), p.emptyTuple, p.newObject, p.emptyDict, p.build)
  return zip([
    { name: 'm/version', data: text(`${version}\n`) },
    { name: 'm/constants.pkl', data: constants },
    { name: 'm/data.pkl', data: root },
    { name: 'm/code/__torch__.py', data: text(code) },
  ])
}

/** A class with one method of this body, whose lines are `statements`. */
export function method(parameters: string, returns: string, ...statements: readonly string[]): string {
  const self = `self: __torch__.M${parameters === '' ? '' : `, ${parameters}`}`
  return `class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  def forward(${self}) -> ${returns}:\n${statements.map((line) => `    ${line}\n`).join('')}`
}

export function loadScript(code: string, options?: LoadOptions): ScriptModule {
  return loadProgram(scriptArchive(code), options)
}

/** The names of the operators that `forward` of a script calls. */
export function operatorsOf(code: string): string[] {
  const module = loadScript(code)
  const { source } = module.method('forward')
  const names = source.operators.map(({ name, overload }) => (overload === '' ? name : `${name}.${overload}`))
  module.dispose()
  return names
}
