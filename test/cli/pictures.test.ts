import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'
import t, { type Test } from 'tap'
import { imageToTensor, loadModule, type Tensor } from '../../src/index.js'
import { ptlite } from './in-process.js'

const digits = fileURLToPath(new URL('../../examples/digits/digits.ptl', import.meta.url))
const [width, height] = [40, 24]
const data = new Uint8Array(4 * width * height).map((_, i) => (i % 4 === 3 ? 255 : ((i >> 2) % width) * 5 + (i % 4) * 20))
const png = PNG.sync.write(Object.assign(new PNG({ width, height }), { data: Buffer.from(data) }))
const jpg = jpeg.encode({ data, width, height }, 95).data

const module = await loadModule(digits)
/** What the network says of a picture. */
const logitsOf = (pixels: Uint8Array, mean: number, std: number): number[][] =>
  module
    .call<Tensor>('logits', [imageToTensor({ data: pixels, width, height }, { resize: 8, crop: 8, channels: 1, mean, std })])
    .toArray() as number[][]

const near = (t: Test, found: readonly number[], wanted: readonly number[]): void => {
  t.equal(found.length, wanted.length)
  for (const [i, x] of found.entries()) t.ok(Math.abs(x - wanted[i]!) < 1e-4, `${x} and ${wanted[i]!}`)
}

t.test('run on pictures', async (t) => {
  const dir = t.testdir({ 'a.png': png, 'a.jpg': jpg })
  const options = ['--method', 'logits', '--gray', '--size', '8', '--mean', '0.2', '--std', '.0625', '--json']
  const of = async (...args: string[]): Promise<number[]> => {
    const { status, stdout, stderr } = await ptlite('run', digits, ...args, ...options)
    t.equal(status, 0, stderr)
    return (JSON.parse(stdout) as { data: number[][] }).data[0]!
  }
  near(t, await of('--image', join(dir, 'a.png')), logitsOf(data, 0.2, 0.0625)[0]!)
  const fitted = module.call<Tensor>('logits', [imageToTensor({ data, width, height }, { fit: 8, fill: 114, channels: 1 })])
  const { stdout } = await ptlite(
    'run',
    digits,
    join(dir, 'a.png'),
    '--method',
    'logits',
    '--gray',
    '--fit',
    '8x8',
    '--fill',
    '114',
    '--json',
  )
  near(t, (JSON.parse(stdout) as { data: number[][] }).data[0]!, (fitted.toArray() as number[][])[0]!)
  near(t, await of(join(dir, 'a.png')), logitsOf(data, 0.2, 0.0625)[0]!)
  const decoded = jpeg.decode(jpg, { useTArray: true })
  near(t, await of('--input', join(dir, 'a.jpg')), logitsOf(decoded.data, 0.2, 0.0625)[0]!)
})

t.test('the likeliest classes', async (t) => {
  const names = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
  const dir = t.testdir({
    'a.png': png,
    'lines.txt': `${names.join('\r\n')}\n`,
    'list.json': JSON.stringify(names),
    'imagenet.json': JSON.stringify(Object.fromEntries(names.map((name, i) => [i, [`n${i}`, name]]))),
    'wrong.json': '{"zero": 0}',
  })
  const logits = logitsOf(data, 0, 1)[0]!
  const exps = logits.map((x) => Math.exp(x - Math.max(...logits)))
  const total = exps.reduce((a, b) => a + b)
  const best = exps.map((x, index) => ({ index, probability: x / total })).sort((a, b) => b.probability - a.probability)
  const args = ['run', digits, join(dir, 'a.png'), '--gray', '--size', '8', '--method', 'logits']
  for (const labels of ['lines.txt', 'list.json', 'imagenet.json']) {
    const { stdout, stderr } = await ptlite(...args, '--labels', join(dir, labels), '--top', '3', '--json')
    t.equal(stderr, '')
    const [found, ...others] = JSON.parse(stdout) as { index: number; label: string; probability: number }[][]
    t.strictSame(others, [])
    t.strictSame(
      found!.map(({ index, label }) => [index, label]),
      best.slice(0, 3).map(({ index }) => [index, names[index] ?? 'class 9']),
    )
    for (const [i, { probability }] of found!.entries()) t.ok(Math.abs(probability - best[i]!.probability) < 1e-5)
  }
  const { stdout } = await ptlite(...args, '--labels', join(dir, 'lines.txt'))
  t.equal(stdout.split('\n').length, 6)
  t.match(stdout, new RegExp(`^ *${(100 * best[0]!.probability).toFixed(1)} %  ${names[best[0]!.index] ?? 'class 9'}\n`))
  t.match(await ptlite(...args, '--labels', join(dir, 'wrong.json')), { status: 1, stderr: /wrong\.json: expected names of classes/ })
  t.match(await ptlite(...args, '--labels', join(dir, 'none')), { status: 1, stderr: /cannot read .*none/ })
  t.match(await ptlite(...args, '--top', '3'), { status: 2, stderr: /--top goes with --labels/ })
})

t.test('--each runs once for each file', async (t) => {
  const dir = t.testdir({ 'a.png': png, 'b.jpg': jpg, 'labels.txt': 'zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n' })
  const [a, b] = [join(dir, 'a.png'), join(dir, 'b.jpg')]
  const args = ['run', digits, '--gray', '--size', '8', '--each', '--image', a, b]
  const one = async (file: string, ...more: string[]): Promise<string> =>
    (await ptlite('run', digits, '--gray', '--size', '8', '--image', file, ...more)).stdout
  t.strictSame(await ptlite(...args), { status: 0, stdout: `${a}:\n${await one(a)}${b}:\n${await one(b)}`, stderr: '' })
  const labels = ['--labels', join(dir, 'labels.txt'), '--top', '2', '--json']
  const { stdout } = await ptlite(...args, ...labels)
  const labelsOf = (rows: readonly (readonly { label: string }[])[]): readonly string[] => rows.flat().map(({ label }) => label)
  const found = JSON.parse(stdout) as { file: string; result: { label: string }[][] }[]
  t.equal(found.length, 2)
  for (const [i, file] of [a, b].entries()) {
    t.equal(found[i]!.file, file)
    t.strictSame(labelsOf(found[i]!.result), labelsOf(JSON.parse(await one(file, ...labels)) as { label: string }[][]))
  }
  t.match(await ptlite(...args, '--output', join(dir, 'out.npy')), { status: 2, stderr: /--each goes with neither --output nor --profile/ })
  t.match(await ptlite('run', digits, '--each'), { status: 2, stderr: /--each needs input files/ })
})

t.test('--batch makes one argument of all pictures', async (t) => {
  const small = PNG.sync.write(new PNG({ width: 10, height: 24 }))
  const dir = t.testdir({ 'a.png': png, 'b.png': png, 'small.png': small })
  const [a, b] = [join(dir, 'a.png'), join(dir, 'b.png')]
  const args = ['run', digits, '--gray', '--size', '8', '--method', 'logits', '--json']
  const { data: rows } = JSON.parse((await ptlite(...args, a, b, '--batch')).stdout) as { data: number[][] }
  t.equal(rows.length, 2)
  for (const row of rows) near(t, row, logitsOf(data, 0, 1)[0]!)
  const stretched = ['run', digits, '--gray', '--resize', '8', '--batch', a, join(dir, 'small.png')]
  t.match(await ptlite(...stretched), { status: 1, stderr: /picture 1 comes to 8 x 19, the first one to 13 x 8/ })
  t.match(await ptlite('run', digits, '--gray', '--size', '8', a, b), {
    status: 2,
    stderr: /takes one argument, found 2; --each .* --batch/,
  })
  t.match(await ptlite(...args, a, b, '--batch', '--each'), { status: 2, stderr: /--each and --batch do not go together/ })
})

t.test('bench and inspect take pictures', async (t) => {
  const image = join(t.testdir({ 'a.png': png }), 'a.png')
  const bench = await ptlite('bench', digits, '--image', image, '--gray', '--size', '8', '--runs', '2', '--json')
  t.equal((JSON.parse(bench.stdout) as { input: string }).input, image)
  t.match((await ptlite('inspect', digits, '--plan', image, '--gray', '--size', '8')).stdout, /conv/)
})

t.test('files that are no pictures, and options that are none', async (t) => {
  const big = Buffer.from(png)
  big.writeUInt32BE(30000, 16)
  big.writeUInt32BE(30000, 20)
  const bigJpeg = Buffer.from(jpg)
  const frame = bigJpeg.indexOf(Buffer.from([0xff, 0xc0]))
  bigJpeg.writeUInt16BE(30000, frame + 5)
  bigJpeg.writeUInt16BE(30000, frame + 7)
  const files: Record<string, Buffer> = {
    'a.png': png,
    'cut.png': png.subarray(0, png.length >> 1),
    'cut.jpg': jpg.subarray(0, jpg.length >> 1),
    'short.png': png.subarray(0, 12),
    'a.webp': Buffer.from('RIFF1234WEBPVP8 '),
    'a.heic': Buffer.from('1234ftypheic1234'),
    'big.png': big,
    'big.jpg': bigJpeg,
    'text.jpg': Buffer.from('hello'),
  }
  const dir = t.testdir({})
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(dir, name), bytes)
  const refused = async (name: string, code: string, message: RegExp): Promise<void> => {
    const { status, stdout } = await ptlite('run', digits, '--image', join(dir, name), '--json')
    t.match({ status, ...(JSON.parse(stdout) as object) }, { status: 1, error: { code, message } }, name)
  }
  await refused('cut.png', 'INVALID_FILE', /cut\.png: damaged PNG file/)
  await refused('short.png', 'INVALID_FILE', /damaged PNG file/)
  await refused('cut.jpg', 'INVALID_FILE', /cut\.jpg: damaged JPEG file/)
  await refused('a.webp', 'UNSUPPORTED_FILE', /a WebP cannot be read; expected JPEG or PNG/)
  await refused('a.heic', 'UNSUPPORTED_FILE', /a HEIC cannot be read/)
  await refused('big.png', 'UNSUPPORTED_FILE', /more than 100 million pixels/)
  await refused('big.jpg', 'UNSUPPORTED_FILE', /more than 100 million pixels/)
  await refused('text.jpg', 'INVALID_FILE', /text\.jpg/)
  const usage = async (message: RegExp, ...args: string[]): Promise<void> => {
    t.match(await ptlite('run', digits, join(dir, 'a.png'), ...args), { status: 2, stderr: message })
  }
  await usage(/--size: expected a number of pixels, found '8x8'/, '--size', '8x8')
  await usage(/--resize: expected a number of pixels or HEIGHTxWIDTH, found '0'/, '--resize', '0')
  await usage(/--mean: expected one number or three with commas, found '1,2'/, '--mean', '1,2')
  await usage(/--std: expected one number or three with commas, none of them 0, found '0'/, '--std', '0')
  await usage(/--mean: expected one number, found '1,2,3'/, '--gray', '--mean', '1,2,3')
  await usage(/--fit goes with none of --size, --resize and --crop/, '--fit', '8', '--size', '8')
  await usage(/--fill goes with --fit/, '--fill', '8')
  await usage(/--fill: expected a byte from 0 to 255, found '256'/, '--fit', '8', '--fill', '256')
  await usage(/--fit: expected a number of pixels or HEIGHTxWIDTH, found '8x'/, '--fit', '8x')
  await usage(/--filter: expected nearest, bilinear, bicubic, lanczos, found 'cubic'/, '--filter', 'cubic')
})

t.test('the licences of what is bundled are there', (t) => {
  const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
  if (!existsSync(`${dist}LICENSES.txt`)) throw new Error(`${dist}LICENSES.txt is missing; run 'npm run build'`)
  const notices = readFileSync(`${dist}LICENSES.txt`, 'utf8')
  for (const name of ['flatbuffers', 'jpeg-js', 'pngjs', 'yaml']) t.match(notices, new RegExp(`^${name} \\d`, 'm'))
  t.end()
})
