import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { outputTarget } from '../../codegen/output-target.js'
import { replaceFiles } from '../../codegen/replace-files.js'
import { loadModule, tensor, type Tensor } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'
import { nodeArguments } from '../support/node.js'
import { ptlite } from './in-process.js'

const child = nodeArguments(fileURLToPath(new URL('write-child.ts', import.meta.url)))
const cli = nodeArguments(fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url)))

const write = (path: string, contents: string): Promise<void> => replaceFiles(new Map([[path, contents]]))

/** Writes files of these lengths in a process of its own, which a shell command starts as "$@". */
function writeUnder(shell: string, files: readonly (readonly [string, number])[], identity: { uid?: number; gid?: number } = {}) {
  const { stdout, stderr } = spawnSync('bash', ['-c', shell, 'bash', process.execPath, ...child, JSON.stringify(files)], {
    encoding: 'utf8',
    // tap's own handlers end the process
    env: { ...process.env, NODE_OPTIONS: '' },
    ...identity,
  })
  const last = stdout.trim().split('\n').at(-1)!
  return last.startsWith('{') ? (JSON.parse(last) as { code: string; message: string }) : { code: stderr, message: last }
}

t.test('a file is replaced: who has the old one open keeps it', async (t) => {
  const dir = t.testdir({ file: 'old', other: 'old' })
  const file = join(dir, 'file')
  chmodSync(file, 0o640)
  linkSync(file, join(dir, 'name'))
  const descriptor = openSync(file, 'r')
  await write(file, 'new contents')
  t.equal(readFileSync(file, 'utf8'), 'new contents')
  t.equal(statSync(file).mode & 0o777, 0o640, 'permissions stay')
  t.equal(readFileSync(descriptor, 'utf8'), 'old')
  t.equal(readFileSync(join(dir, 'name'), 'utf8'), 'old', 'another name of it keeps the old one')
  closeSync(descriptor)
  t.strictSame(readdirSync(dir).sort(), ['file', 'name', 'other'])
})

t.test('a symbolic link stays one, and its file is replaced', async (t) => {
  const dir = t.testdir({ folder: { file: 'old' } })
  symlinkSync('folder/file', join(dir, 'link'))
  symlinkSync('link', join(dir, 'to-link'))
  symlinkSync('folder/none', join(dir, 'dangling'))
  symlinkSync('loop', join(dir, 'loop'))
  await write(join(dir, 'to-link'), 'new')
  await write(join(dir, 'dangling'), 'made')
  t.ok(lstatSync(join(dir, 'to-link')).isSymbolicLink())
  t.equal(readFileSync(join(dir, 'folder/file'), 'utf8'), 'new')
  t.equal(readFileSync(join(dir, 'folder/none'), 'utf8'), 'made')
  await t.rejects(write(join(dir, 'loop'), 'x'), { code: 'WRITE_FAILED', message: /ELOOP/ })
  t.strictSame(readdirSync(join(dir, 'folder')).sort(), ['file', 'none'])
})

t.test('all files or none', async (t) => {
  const dir = t.testdir({ a: 'old', folder: {} })
  const files = new Map([
    [join(dir, 'a'), 'new'],
    [join(dir, 'no/such/folder'), 'new'],
  ])
  await t.rejects(replaceFiles(files), { code: 'WRITE_FAILED', message: /cannot write .*no\/such\/folder: ENOENT/ })
  await t.rejects(write(join(dir, 'folder'), 'x'), { code: 'WRITE_FAILED', message: /EISDIR/ })
  t.equal(readFileSync(join(dir, 'a'), 'utf8'), 'old')
  t.strictSame(readdirSync(dir).sort(), ['a', 'folder'])
})

t.test('a full disk keeps the old file, and the error says how much is needed and free', async (t) => {
  const dir = t.testdir({})
  // a file system of its own, which ends with the process
  const mounted = (command: string): string => `exec unshare -rm bash -c 'mount -t tmpfs -o size=1m none ${dir} && ${command}' bash "$@"`
  if (spawnSync('bash', ['-c', mounted('true')]).status !== 0) {
    t.pass('no file system can be mounted here', { skip: true })
    return
  }
  const file = join(dir, 'model.ptlc')
  const { stdout } = spawnSync(
    'bash',
    [
      '-c',
      mounted(`echo -n old > ${file}; "$@"; cat ${file}; ls -A ${dir}`),
      'bash',
      process.execPath,
      ...child,
      JSON.stringify([[file, 3e6]]),
    ],
    { encoding: 'utf8' },
  )
  const [, error, ...left] = stdout.trim().split('\n')
  const { code, message } = JSON.parse(error!) as { code: string; message: string }
  t.equal(code, 'WRITE_FAILED')
  const [, needed, free] = /no space left; it needs (\d+) bytes beside the old file, which stays, and (\d+) are free$/.exec(message) ?? []
  t.equal(needed, '3000000')
  t.ok(Number(free) > 1e6 && Number(free) < 1.1e6, `${free} bytes without what was written of the new file`)
  t.strictSame(left, ['oldmodel.ptlc'])
})

t.test('a limit of file sizes keeps the old file', async (t) => {
  const dir = t.testdir({ file: 'old' })
  const file = join(dir, 'file')
  t.match(writeUnder('ulimit -f 1000; exec "$@"', [[file, 5e6]]), {
    code: 'WRITE_FAILED',
    message: /5000000 bytes are more than a file may have/,
  })
  t.equal(readFileSync(file, 'utf8'), 'old')
  t.strictSame(readdirSync(dir), ['file'])
})

t.test('a folder or file without permission is left alone', async (t) => {
  const dir = t.testdir({ closed: { file: 'old' }, open: { file: 'old' } })
  // root may write anywhere
  const nobody = process.getuid!() === 0 ? { uid: 65534, gid: 65534 } : {}
  chmodSync(join(dir, 'open'), 0o777)
  chmodSync(join(dir, 'open/file'), 0o444)
  chmodSync(join(dir, 'closed/file'), 0o666)
  chmodSync(join(dir, 'closed'), 0o555)
  t.match(writeUnder('exec "$@"', [[join(dir, 'closed/file'), 4]], nobody), {
    code: 'WRITE_FAILED',
    message: /no file can be created in its folder \(EACCES\), which replacing it takes/,
  })
  t.match(writeUnder('exec "$@"', [[join(dir, 'open/file'), 4]], nobody), { code: 'WRITE_FAILED', message: /EACCES/ })
  t.equal(readFileSync(join(dir, 'open/file'), 'utf8'), 'old')
  t.equal(readFileSync(join(dir, 'closed/file'), 'utf8'), 'old')
  chmodSync(join(dir, 'closed'), 0o755)
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  t.test(`${signal} removes what was written so far`, async (t) => {
    const dir = t.testdir({ file: 'old', pipes: {} })
    const pipe = join(dir, 'pipes/pipe')
    spawnSync('mkfifo', [pipe])
    // waits for a reader of the pipe, with the first file written
    const files = JSON.stringify([
      [join(dir, 'file'), 1000],
      [pipe, 1000],
    ])
    const writer = spawn(process.execPath, [...child, files], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = new Promise<string | null>((resolve) => writer.on('exit', (_, by) => resolve(by)))
    while (!readdirSync(dir).some((name) => name.endsWith('.partial') && statSync(join(dir, name)).size === 1000))
      await new Promise((resolve) => setTimeout(resolve, 20))
    writer.kill(signal)
    t.equal(await ended, signal)
    t.strictSame(readdirSync(dir).sort(), ['file', 'pipes'])
    t.equal(readFileSync(join(dir, 'file'), 'utf8'), 'old')
  })
}

t.test('descriptors, pipes and devices are written to', async (t) => {
  t.strictSame(outputTarget('/dev/fd/7'), { kind: 'descriptor', descriptor: 7 })
  if (existsSync('/dev/stdout')) t.strictSame(outputTarget('/dev/stdout'), { kind: 'descriptor', descriptor: 1 })
  await write('/dev/null', 'nothing')
  await t.rejects(write('/dev/full', 'too much'), { code: 'WRITE_FAILED', message: /no space left; it needs 8 bytes/ })
  t.ok(statSync('/dev/null').isCharacterDevice())
})

/** A folder with a model, inputs for it and what it is compiled to. */
async function compiledIn(t: Test) {
  const dir = t.testdir({ 'x.json': '[[1, 2, 3, 4]]' })
  const [model, output, input] = [join(dir, 'compile.ptl'), join(dir, 'compile.ptlc'), join(dir, 'x.json')]
  copyFileSync(fixturePath('compile.ptl'), model)
  const { status, stderr } = await ptlite('compile', model, '-i', input)
  if (status !== 0) throw new Error(stderr)
  return { dir, model, output, input }
}

t.test('compile over a file that is in use leaves its users what they have', async (t) => {
  const { model, output, input } = await compiledIn(t)
  const module = await loadModule(output)
  const x = tensor([[1, 2, 3, 4]])
  const before = (module.forward(x) as Tensor).toArray()
  const { ino } = statSync(output)
  t.equal((await ptlite('compile', model, '-i', input)).status, 0)
  t.not(statSync(output).ino, ino)
  t.strictSame((module.forward(x) as Tensor).toArray(), before)
  module.dispose()
})

t.test('compile to stdout, whatever that is, says the rest on stderr', async (t) => {
  const { dir, model, output, input } = await compiledIn(t)
  const expected = readFileSync(output)
  const command = [...cli, 'compile', model, '-i', input, '-o', '/dev/stdout']
  const piped = spawnSync(process.execPath, command)
  t.strictSame(piped.stdout, expected)
  t.match(piped.stderr.toString(), /kernel calls/)
  const file = join(dir, 'redirected.ptlc')
  const descriptor = openSync(file, 'w')
  const redirected = spawnSync(process.execPath, command, { stdio: ['ignore', descriptor, 'pipe'] })
  closeSync(descriptor)
  t.equal(redirected.status, 0, redirected.stderr.toString())
  t.strictSame(readFileSync(file), expected)
})

t.test('a model is not overwritten by what it is compiled to', async (t) => {
  const { dir, model, input } = await compiledIn(t)
  const bytes = readFileSync(model)
  symlinkSync('compile.ptl', join(dir, 'link'))
  for (const output of [model, join(dir, 'link'), join(dir, '../', dir.split('/').at(-1)!, 'compile.ptl')]) {
    const { status, stderr } = await ptlite('compile', model, '-i', input, '-o', output)
    t.equal(status, 1)
    t.match(stderr, /would be overwritten/)
  }
  t.strictSame(readFileSync(model), bytes)
})

t.test('a command line whose output is full or closed ends with one line', async (t) => {
  const run = (shell: string) => spawnSync('bash', ['-c', shell, 'bash', process.execPath, ...cli], { encoding: 'utf8' })
  const full = run('"$@" cpu > /dev/full')
  t.equal(full.status, 1)
  t.match(full.stderr, /^ptlite: cannot write to stdout: .*ENOSPC.* \(WRITE_FAILED\)\n$/)
  t.equal(run('"$@" cpu > /dev/full 2>&1').status, 1)
  const closed = run('"$@" inspect --help | true; echo ${PIPESTATUS[0]}')
  t.strictSame([closed.stdout, closed.stderr], ['0\n', ''])
  const folder = t.testdir({ file: '' })
  mkdirSync(join(folder, 'sub'))
  writeFileSync(join(folder, 'ops.yaml'), '- func: custom::twice(Tensor self) -> Tensor\n  dispatch:\n    CPU: twice\n')
  const wrong = run(`"$@" codegen --ops ${folder}/ops.yaml --out ${folder}/file/x`)
  t.equal(wrong.status, 1)
  t.match(wrong.stderr, /^ptlite: ENOTDIR: .* \(ENOTDIR\)\n$/)
})
