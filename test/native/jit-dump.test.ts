import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { runnable } from '../support/node.js'

const ready = kernels.jit_info().state === kernels.JitState.ready
const objdump = spawnSync('objdump', ['--version']).status === 0

await t.test(
  'dumped code has a readable name and disassembles',
  { skip: ready && objdump ? false : 'no generated code, or no objdump' },
  (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ptlite-dump-'))
    t.teardown(() => {
      rmSync(folder, { recursive: true })
    })
    // the library asks for the variable when it generates
    const script = `
    import { compile } from ${JSON.stringify(runnable(fileURLToPath(new URL('./jit-support.ts', import.meta.url))))}
    const full = { access: 'full', dtype: ${DType.float32} }
    compile([full, full], [{ op: 'gelu_erf', a: 0 }, { op: 'add', a: 2, b: 1 }], ${DType.float32})`
    const child = spawnSync(process.execPath, ['--import=tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { ...process.env, PTLITE_JIT_DUMP: folder },
    })
    t.equal(child.status, 0, child.stderr)
    t.same(readdirSync(folder), ['elementwise-gelu_erf-add.bin'])
    const { stdout } = spawnSync('objdump', ['-D', '-b', 'binary', '-m', 'i386:x86-64', join(folder, 'elementwise-gelu_erf-add.bin')], {
      encoding: 'utf8',
    })
    // constants lie behind the code
    const code = stdout.slice(0, stdout.search(/\bret\b/))
    t.notMatch(code, /\(bad\)/)
    for (const instruction of ['vzeroupper', 'vdivps', 'vfmadd', 'vaddps']) t.match(code, instruction)
    t.end()
  },
)
