import { dictType } from '../../formats/containers/dict-types.js'
import { allSteps } from '../../formats/steps.js'
import { openProgram, readProgram } from '../../formats/read.js'
import type { FunctionCode } from '../../program/code.js'
import type { Program } from '../../program/program.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, Device, type DictKey, listType, type ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'

/**
 * All that a file holds, line by line, with numbers for what occurs more than once: objects, containers and storages. Numbers of arguments are left out where
 * `counts` says so.
 */
export function programText(path: string, counts: boolean): string[] {
  const states = new Map<ScriptObject, { setState: FunctionCode; state: Value }>()
  const hooks = {
    runSetState: (setState: FunctionCode, object: ScriptObject, state: Value) => void states.set(object, { setState, state }),
  }
  const program = allSteps(readProgram(openProgram(path), hooks, {}))
  try {
    return [...new Lines(states, counts).of(program)]
  } finally {
    program.close()
  }
}

class Lines {
  private numbers = new Map<object, number>()
  private storages = new Map<Storage, number>()

  constructor(
    private readonly states: ReadonlyMap<ScriptObject, { setState: FunctionCode; state: Value }>,
    private readonly counts: boolean,
  ) {}

  *of({ operatorVersion, functions, root, extraFiles }: Program): Generator<string> {
    yield `operators ${operatorVersion}`
    for (const fn of functions) {
      yield `${fn.name} ${fn.code.join(' ')} registers ${fn.registerSize}`
      for (const { name, overload, argCount } of fn.operators) yield `${name}.${overload} ${this.counts ? argCount : ''}`
      yield JSON.stringify(fn.types)
      // identity of functions' constants is each function's own
      this.numbers = new Map()
      this.storages = new Map()
      for (const constant of fn.constants) yield `constant ${this.text(constant)}`
      const { args, returns } = fn.schema ?? { args: [], returns: [] }
      yield args
        .map(({ name, type, default: given }) => `${name}: ${type} = ${given === undefined || given === null ? '' : this.text(given)}`)
        .join()
      yield returns.map(({ type }) => type).join()
    }
    this.numbers = new Map()
    this.storages = new Map()
    yield this.text(root)
    for (const [name, content] of [...extraFiles].sort()) yield `${name} ${Buffer.from(content).toString('hex')}`
  }

  private text(value: Value): string {
    if (value === null || typeof value === 'boolean' || typeof value === 'bigint' || typeof value === 'number') return String(value)
    if (typeof value === 'string') return JSON.stringify(value)
    if (value instanceof Float) return `float ${Object.is(value.value, -0) ? '-0' : value.value}`
    if (value instanceof Complex) return `complex ${value.re} ${value.im}`
    if (value instanceof Device) return `device ${value.toString()}`
    if (value instanceof Tuple) return `(${value.items.map((item) => this.text(item)).join()})`
    const known = this.numbers.get(value)
    if (known !== undefined) return `#${known}`
    this.numbers.set(value, this.numbers.size)
    if (value instanceof Tensor) return this.tensor(value)
    if (Array.isArray(value)) return `list of ${value.length > 0 ? '' : listType(value)} [${value.map((item) => this.text(item)).join()}]`
    if (value instanceof Map) return this.dict(value)
    if (value instanceof CustomObject) return `${value.className}{${this.text(value.state)}}`
    const filled = this.states.get(value)
    if (filled !== undefined) return `${value.typeName} by ${filled.setState.name} of ${this.text(filled.state)}`
    return `${value.typeName}{${value.names.map((name, i) => `${name}=${this.text(value.slots[i]!)}`).join()}}`
  }

  private dict(dict: Map<DictKey, Value>): string {
    const entries = [...dict].map(([key, value]) => `${this.text(key)}:${this.text(value)}`)
    return `${dictType(dict) ?? ''}{${entries.join()}}`
  }

  private tensor(t: Tensor): string {
    const number = this.storages.get(t.storage) ?? this.storages.size
    this.storages.set(t.storage, number)
    const bytes = Buffer.alloc(t.storage.byteLength)
    t.storage.read(0, bytes)
    const layout = JSON.stringify([t.dtype, t.offset, t.shape, t.strides, t.quant])
    return `tensor ${layout} on ${number} ${bytes.toString('base64')}`
  }
}
