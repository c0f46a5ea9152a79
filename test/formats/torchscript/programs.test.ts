import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { type Input, loadModule, PtliteError, tensor, Tensor, tuple } from '../../../src/index.js'
import { fixturePath } from '../../module/fixtures.js'

/** A value in the JSON that the script writes. */
type Described = Readonly<Record<string, unknown>>

interface Case {
  readonly method: string
  readonly args: readonly Described[]
  readonly result?: Described
  readonly error?: string
}

function argument(value: Described): Input {
  const [kind, content] = Object.entries(value)[0]!
  switch (kind) {
    case 'none':
      return null
    case 'tensor':
      return tensor(content as number[], value['shape'] as number[], value['dtype'] as 'float32')
    case 'tuple':
      return tuple(...(content as Described[]).map(argument))
    case 'list':
      return (content as Described[]).map(argument)
    default:
      return content as Input
  }
}

/** A result in the form of the JSON; numbers stand for ints and floats alike. */
function plain(value: unknown): unknown {
  if (value instanceof Tensor)
    return { dtype: value.dtype, shape: [...value.shape], data: Array.from(value.data() as Iterable<number>, rounded) }
  if (Array.isArray(value)) return (value as unknown[]).map(plain)
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)].map(([k, v]) => [k, plain(v)])
  return typeof value === 'number' ? rounded(value) : value
}

function rounded(value: number | bigint): number {
  return Number(Number(value).toPrecision(5))
}

function wanted(value: Described): unknown {
  const [kind, content] = Object.entries(value)[0]!
  if (kind === 'none') return null
  if (kind === 'tensor') return { dtype: value['dtype'], shape: value['shape'], data: (content as number[]).map(rounded) }
  if (kind === 'list' || kind === 'tuple') return (content as Described[]).map(wanted)
  if (kind === 'dict') return (content as [Described, Described][]).map(([k, v]) => [wanted(k), wanted(v)])
  return typeof content === 'number' ? rounded(content) : content
}

const folder = fixturePath('torchscript')
for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  t.test(file, async (t) => {
    const cases = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Case[]
    const module = await loadModule(`${folder}/${file.replace('.json', '.pt')}`)
    for (const [i, { method, args, result, error }] of cases.entries()) {
      const call = (): unknown => module.call(method, args.map(argument))
      if (result !== undefined) t.same(plain(call()), wanted(result), `${method}, case ${i}`)
      else {
        const found = t.throws(call, PtliteError) as Error
        t.ok(found.message.includes(error!.split(': ').at(-1)!), `${found.message} tells of ${error!}`)
      }
    }
    module.dispose()
  })
}
