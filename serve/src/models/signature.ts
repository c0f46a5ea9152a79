import type { ArgumentInfo } from 'ptlite'
import { DATATYPES, type Datatype, datatypeOf } from '../protocol/datatypes.js'
import { invalid } from '../protocol/error.js'
import type { NamedTensor } from '../protocol/tensor.js'
import { ConfigError, type DeclaredTensor, type ModelConfig } from '../repository/config.js'
import type { ArgumentKind, Loaded, SentTensor } from '../workers/messages.js'

/** A tensor that a model takes or gives, as far as that is known. */
export interface TensorInfo {
  readonly name: string
  readonly datatype: Datatype | null
  /** -1 is any size; null: any shape. */
  readonly shape: readonly number[] | null
}

export interface InputInfo extends TensorInfo {
  readonly kind: ArgumentKind
  readonly optional: boolean
}

const SCALARS: Readonly<Record<string, Datatype>> = { int: 'INT64', float: 'FP64', bool: 'BOOL', str: 'BYTES' }

/** What a model takes: what its config says, and what its file says where that is silent. */
export function inputsOf({ inputs: declared }: ModelConfig, found: readonly ArgumentInfo[] | null): InputInfo[] | null {
  if (found === null) return declared?.map((each) => ({ ...each, kind: 'Tensor', optional: false })) ?? null
  if (declared !== null && (declared.length > found.length || found.slice(declared.length).some(({ type }) => !isOptional(type))))
    throw new ConfigError(`inputs: the model takes ${found.map(({ name }) => name).join(', ')}, found ${declared.length} in the config`)
  return (declared === null ? found : found.slice(0, declared.length)).map((info, i) => inputOf(info, declared?.[i]))
}

function inputOf(info: ArgumentInfo, declared: DeclaredTensor | undefined): InputInfo {
  const optional = isOptional(info.type)
  const type = optional ? info.type.slice('Optional['.length, -1) : info.type
  const base = { name: declared?.name ?? info.name, optional }
  if (type === 'Tensor')
    return { ...base, kind: 'Tensor', datatype: declared?.datatype ?? datatypeFrom(info), shape: declared?.shape ?? shapeFrom(info) }
  const element = /^(?:List\[)?(int|float|bool|str)\]?$/.exec(type)?.[1]
  if (element === undefined) throw new ConfigError(`the protocol has no tensor for argument '${info.name}', which is ${info.type}`)
  return { ...base, kind: type as ArgumentKind, datatype: SCALARS[element]!, shape: type === element ? [1] : [-1] }
}

function isOptional(type: string): boolean {
  return type.startsWith('Optional[')
}

function datatypeFrom({ dtype }: ArgumentInfo): Datatype | null {
  return dtype === undefined ? null : (datatypeOf(dtype) ?? null)
}

function shapeFrom({ shape }: ArgumentInfo): number[] | null {
  return shape?.map(({ min, max }) => (min === max ? min : -1)) ?? null
}

/** Names that its file gives to what it cannot name. */
const UNNAMED = /^output (\d+)$/

/** What a model gives, likewise; `results` are those of its warm-up. */
export function outputsOf({ outputs: declared }: ModelConfig, { outputs: found, results }: Loaded): TensorInfo[] | null {
  if (declared !== null) return [...declared]
  if (results !== null)
    return results.map(({ datatype, shape }, i) => {
      const info = found?.length === results.length ? found[i] : undefined
      return { name: outputName(info?.name, i), datatype, shape: (info && shapeFrom(info)) ?? shape.map(() => -1) }
    })
  if (found?.every(({ type }) => type === 'Tensor') !== true) return null
  return found.map((info, i) => ({ name: outputName(info.name, i), datatype: datatypeFrom(info), shape: shapeFrom(info) }))
}

/** Of a result by its place. */
export function outputName(name: string | undefined, i: number): string {
  return name === undefined || UNNAMED.test(name) ? `output${i}` : name
}

/** The tensors of a request in the order of the arguments; null for those that are left out. Throws where they do not fit. */
export function bind(inputs: readonly InputInfo[], given: readonly NamedTensor[]): (NamedTensor | null)[] {
  const bound: (NamedTensor | null)[] = []
  let used = 0
  for (const info of inputs) {
    const tensor = findInput(given, info.name)
    if (tensor === null && !info.optional) throw invalid(`input '${info.name}' is missing; the model takes ${namesOf(inputs)}`)
    if (tensor !== null) {
      used++
      checkFits(tensor, info)
    }
    bound.push(tensor)
  }
  if (used !== given.length) {
    const unknown = given.find(
      ({ name }, i) => !inputs.some((info) => info.name === name) || given.findIndex((each) => each.name === name) !== i,
    )!
    const isTwice = inputs.some(({ name }) => name === unknown.name)
    throw invalid(
      isTwice ? `input '${unknown.name}' is given twice` : `the model has no input '${unknown.name}'; it takes ${namesOf(inputs)}`,
    )
  }
  while (bound.length > 0 && bound.at(-1) === null) bound.pop()
  return bound
}

function findInput(given: readonly NamedTensor[], name: string): NamedTensor | null {
  for (const each of given) if (each.name === name) return each
  return null
}

function namesOf(inputs: readonly InputInfo[]): string {
  return inputs.length === 0 ? 'nothing' : inputs.map(({ name }) => `'${name}'`).join(', ')
}

function checkFits({ name, datatype, shape }: NamedTensor, info: InputInfo): void {
  if (info.datatype !== null && datatype !== info.datatype) throw invalid(`input '${name}': expected ${info.datatype}, found ${datatype}`)
  if (datatype === 'BYTES' && info.kind === 'Tensor') throw invalid(`input '${name}': the model takes no strings, found BYTES`)
  if (info.kind !== 'Tensor' && !info.kind.startsWith('List') ? product(shape) !== 1 : !fits(shape, info.shape))
    throw invalid(`input '${name}': expected shape [${info.shape?.join(', ')}], found [${shape.join(', ')}]`)
}

function product(shape: readonly number[]): number {
  return shape.reduce((n, size) => n * size, 1)
}

function fits(shape: readonly number[], wanted: readonly number[] | null): boolean {
  return wanted === null || (shape.length === wanted.length && wanted.every((size, i) => size === -1 || size === shape[i]))
}

/** Whether the file says that all inputs and outputs have one row for each of a batch, however many. */
export function hasFreeRows(inputs: readonly ArgumentInfo[] | null, outputs: readonly ArgumentInfo[] | null): boolean {
  const all = [...(inputs ?? []), ...(outputs ?? [])]
  const rows = all[0]?.shape?.[0]
  if (rows === undefined || rows.min === rows.max || !inputs?.length || !outputs?.length) return false
  return all.every(({ type, shape }) => type === 'Tensor' && shape?.[0]?.text === rows.text)
}

/** The largest number of rows that the file allows; null where it does not say. */
export function mostRows(inputs: readonly ArgumentInfo[] | null): number | null {
  return inputs?.[0]?.shape?.[0]?.max ?? null
}

/** Zeros for a model whose inputs have known sizes but for a batch of any; null for others. */
export function zerosFor(inputs: readonly InputInfo[] | null): SentTensor[] | null {
  if (inputs === null || inputs.length === 0) return null
  const zeros: SentTensor[] = []
  for (const { kind, datatype, shape } of inputs) {
    if (kind !== 'Tensor' || datatype === null || shape === null || shape.slice(1).includes(-1)) return null
    zeros.push(
      zerosOf(
        datatype,
        shape.map((size) => (size === -1 ? 1 : size)),
      ),
    )
  }
  return zeros
}

function zerosOf(datatype: Datatype, shape: readonly number[]): SentTensor {
  return { datatype, shape, data: new DATATYPES[datatype].array(product(shape)) }
}
