import { loadModule } from '../index.js'
import { runTestCases } from './test-cases.js'
import { parse, UsageError, type Command } from './usage.js'

/** ptlite verify: whether files are whole. */
export const verify: Command = {
  synopsis: 'verify MODEL...',
  options: {},
  about: `Says whether model files are whole and can be run here.

Reads all of each file: the checksums of .ptl archives, tensors included, then what loading checks: attributes, programs, operators. Test cases that are bundled with an ExecuTorch program (.bpte) are run.
Ends with the first file that is not whole.`,

  async run(args) {
    const { positionals } = parse({ args, options: {}, allowPositionals: true })
    if (positionals.length === 0) throw new UsageError('name a model file')
    for (const path of positionals) {
      const module = await loadModule(path, { verify: true, compile: 'off', onWarning: () => undefined })
      const cases = runTestCases(module)
      const passed = cases === 0 ? '' : `; ${cases} test cases pass`
      console.log(`${path}: whole; methods ${module.methods.join(', ')}${passed}`)
      module.dispose()
    }
  },
}
