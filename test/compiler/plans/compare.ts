import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { callOperator, type Input, loadModule, type Module, type Output, setNumThreads, tensor, Tensor } from '../../../src/index.js'
import { fixturePath, type Golden, inputOf } from '../../module/fixtures.js'

/** A model with arguments for one of its methods. */
export interface Sample {
  readonly name: string
  readonly file: string
  readonly method: string
  readonly makeInputs: () => Input[]
}

export interface Comparison {
  readonly name: string
  readonly state: string
  readonly reason: string | null
  /** Largest difference between plan and interpreter, relative to the largest value, over all runs. */
  readonly error: number
  /** Results of one and two threads have the same bits. */
  readonly sameBits: boolean
  readonly memory: { readonly arenaBytes: number; readonly lowerBound: number; readonly naiveBytes: number } | null
}

/** The networks among the fixtures. */
export function fixtureSamples(): Sample[] {
  const folder = fixturePath('models')
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ptl'))
    .map((file) => {
      const golden = JSON.parse(readFileSync(`${folder}/${file.replace(/\..*/, '.json')}`, 'utf8')) as Golden
      return { name: file, file: `${folder}/${file}`, method: 'forward', makeInputs: () => golden.inputs.map(inputOf) }
    })
}

interface Meta {
  readonly file: string
  readonly kind: string
  readonly deterministic: boolean
  readonly cases: readonly { readonly method: string; readonly inputs: readonly { tensor?: string; dtype?: string; shape?: number[] }[] }[]
}

/** Models of other projects, where they lie beside this repository; none elsewhere. */
export function sharedSamples(): Sample[] {
  const folder = fileURLToPath(new URL('../../../../shared/models', import.meta.url))
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): Sample[] => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory() || !existsSync(`${path}/meta.json`)) return []
    const { file, kind, deterministic, cases } = JSON.parse(readFileSync(`${path}/meta.json`, 'utf8')) as Meta
    const plain = cases.filter(({ inputs }) => inputs.every((input) => /^(float32|int64)$/.test(input.dtype ?? '')))
    // archives without mobile bytecode are refused
    if (!deterministic || kind === 'torchscript') return []
    return plain.slice(0, 1).map(({ method, inputs }) => ({
      name: entry.name,
      file: `${path}/${file}`,
      method,
      makeInputs: () =>
        inputs.map((input) => {
          const bytes = new Uint8Array(readFileSync(`${path}/${input.tensor!}`)).buffer
          const data = input.dtype === 'int64' ? new BigInt64Array(bytes) : new Float32Array(bytes)
          return tensor(data, input.shape!, input.dtype as 'float32')
        }),
    }))
  })
}

function tensorsOf(output: Output): Tensor[] {
  if (output instanceof Tensor) return [output]
  if (Array.isArray(output)) return output.flatMap(tensorsOf)
  return output instanceof Map ? [...output.values()].flatMap(tensorsOf) : []
}

/** The arguments with other numbers in them: as given, halved, negated. Integers may be indices and stay. */
function varied(inputs: readonly Input[], run: number): Input[] {
  const factor = [1, 0.5, -0.75][run]!
  return inputs.map((input) =>
    input instanceof Tensor && input.dtype === 'float32' ? (callOperator('aten::mul.Scalar', [input, factor]) as Tensor) : input,
  )
}

function errorBetween(found: readonly Tensor[], wanted: readonly Tensor[]): number {
  if (found.length !== wanted.length) return Infinity
  return Math.max(
    0,
    ...wanted.map((want, k) => {
      const got = found[k]!
      if (got.dtype !== want.dtype || String(got.shape) !== String(want.shape)) return Infinity
      const [a, b] = [Array.from(got.data(), Number), Array.from(want.data(), Number)]
      const scale = b.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1e-30)
      return b.reduce(
        (most, x, i) => (Object.is(x, a[i]) || x === a[i] ? most : Math.max(most, Math.abs(x - a[i]!) / scale || Infinity)),
        0,
      )
    }),
  )
}

const bitsOf = (tensors: readonly Tensor[]): string => tensors.map((t) => Buffer.from(t.data().buffer).toString('base64')).join()

/** Compares the plan of a model with the interpreter, on three inputs, with one thread and with two. */
export async function comparePlan({ name, file, method, makeInputs }: Sample): Promise<Comparison> {
  const [off, on] = [await loadModule(file, { compile: 'off' }), await loadModule(file)]
  try {
    await on.compile(method, makeInputs())
    let error = 0
    let sameBits = true
    for (let run = 0; run < 3; run++) {
      const results = [1, 2].map((threads) => {
        setNumThreads(threads)
        const call = (m: Module): Tensor[] => tensorsOf(m.call(method, varied(makeInputs(), run)))
        const [found, wanted] = [call(on), call(off)]
        error = Math.max(error, errorBetween(found, wanted))
        return bitsOf(found)
      })
      sameBits &&= results[0] === results[1]
    }
    const plan = on.plans().find((p) => p.method === method)
    return { name, state: plan?.state ?? 'none', reason: plan?.reason ?? null, error, sameBits, memory: plan?.memory ?? null }
  } finally {
    setNumThreads(1)
    off.dispose()
    on.dispose()
  }
}
