import { compileAhead } from '../../../src/ahead.js'
import { PtliteError } from '../../../src/index.js'
import { PREAMBLE_BYTES } from '../../../formats/ptlc/preamble.js'
import { fixtureBytes, fixturePath } from '../../module/fixtures.js'
import { callsOf } from '../files/calls.js'
import type { Base, Target } from '../harness/target.js'
import { mutateBytes } from '../mutate/bytes.js'
import { mutateSites, mutateTree } from '../mutate/flat.js'
import { PLAN_CHANGES, PLAN_FORMAT } from '../mutate/plan-fbs.js'
import type { Random } from '../random.js'
import { type Container, containerOf, fileOf, withOwnHash } from './container.js'
import { runCompiled } from './run-compiled.js'

/** Models whose plans have kernels of different kinds. */
const MODELS = [
  'linear.ptl', 'compile.ptl', 'packed.ptl', 'quantized.ptl', 'qparams.ptl', 'values.ptl', 'exotic.ptl', 'debugged.ptl', 'old/traced-v5.ptl',
  'old/upgraded.ptl', 'old/attention-v5.ptl', 'pt2/counter.pt2',
] // prettier-ignore

/** The calls that a compiled file has plans for, by the name of its model. */
const names = new Map<string, Base>()

async function compiled(name: string): Promise<Base[]> {
  const model: Base = { name, bytes: Buffer.from(fixtureBytes(name)) }
  const calls = await callsOf(model)
  const bases: Base[] = []
  // one file of each method, so that files are small, and few of them
  for (const { method, args } of calls.slice(0, 4)) {
    try {
      const bytes = Buffer.from(compileAhead(fixturePath(name), () => [{ method, args: args() }]))
      bases.push({ name: `${name} ${method}`, bytes })
      names.set(`${name} ${method}`, model)
    } catch (error) {
      // there is no plan for it
      if (!(error instanceof PtliteError)) throw error
    }
  }
  return bases
}

/** Files of plans, compiled from small models: their container, header, frames, addresses, buffers and constants. */
export async function target(): Promise<Target> {
  const bases: Base[] = []
  for (const name of MODELS) bases.push(...(await compiled(name)))
  return {
    bases,
    mutate(bytes, random) {
      const parts = containerOf(bytes)
      if (parts === null || random.once(12)) return mutateBytes(bytes, random, random.pick(bases).bytes)
      if (random.once(16)) return changedPreamble(bytes, random)
      return fileOf(changedParts(parts, random))
    },
    run: (bytes, base, choice) => runCompiled(bytes, base.name, names.get(base.name)!, choice),
  }
}

function changedParts({ header, data }: Container, random: Random): Container {
  const which = random.below(20)
  if (which === 0) return { header, data: mutateBytes(data, random, header) }
  if (which === 1) return { header: mutateBytes(header, random, data), data }
  const changed = which < 6 ? mutateSites(header, PLAN_FORMAT, random) : mutateTree(header, PLAN_FORMAT, random, PLAN_CHANGES)
  return { header: changed ?? mutateBytes(header, random, data), data }
}

/** A number among the first bytes. */
function changedPreamble(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  const at = 8 * random.below(PREAMBLE_BYTES / 8 - 1)
  const old = copy.readBigInt64LE(at)
  copy.writeBigInt64LE(BigInt.asIntN(64, random.once(2) ? random.edge64(old) : old + 64n * BigInt(random.between(-3, 3))), at)
  return withOwnHash(copy)
}
