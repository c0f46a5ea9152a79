import { operators } from '../../../src/index.js'
import { formsOf, inputOf, PROGRAMS, readCalls } from '../../pt2/fixtures.js'
import { archiveOf, recordsIn } from '../../pt2/writer.js'
import { runModule } from '../files/run-module.js'
import type { Base, Target } from '../harness/target.js'
import { mutateBytes } from '../mutate/bytes.js'
import { mutateExported } from '../mutate/exported.js'
import { mutateZip, partsOf, zipOf } from '../mutate/zip.js'

/** Programs of torch.export: the archive, its JSON texts, the nodes, expressions and tensors in them. */
export function target(): Target {
  const bases = PROGRAMS.flatMap((program) =>
    formsOf(program).map((form) => {
      const name = `${program}.${form}`
      // stored, as PyTorch writes them
      return { name, bytes: Buffer.from(archiveOf(recordsIn(name))) }
    }),
  )
  const targets = operators().map(({ name, overload }) => `torch.ops.${name.replace('::', '.')}.${overload === '' ? 'default' : overload}`)
  const calls = ({ name }: Base) =>
    readCalls(name.slice(0, name.indexOf('.'))).calls.map(({ args }) => ({ method: 'forward', args: () => args.map(inputOf) }))
  return {
    bases,
    mutate(bytes, random) {
      const parts = random.once(16) ? null : partsOf(bytes)
      if (parts === null || parts.length === 0) return mutateBytes(bytes, random, random.pick(bases).bytes)
      if (random.once(8)) return mutateZip(parts, random)
      const texts = parts.filter(({ name, method }) => method === 0 && name.toString().endsWith('.json'))
      const programs = texts.filter(({ name }) => name.includes('models/'))
      const one = random.once(12)
        ? random.pick(parts)
        : random.pick(programs.length > 0 && !random.once(4) ? programs : [...texts, ...parts])
      const content = texts.includes(one)
        ? mutateExported(one.content, random, targets)
        : mutateBytes(one.content, random, random.pick(parts).content)
      return zipOf(parts.map((part) => (part === one ? { ...part, content } : part)))
    },
    run: (bytes, base, choice) => runModule(bytes, base, choice, calls(base)),
  }
}
