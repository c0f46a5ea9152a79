// Recognises handwritten digits that the network has not been trained on, with each of its model files,
// and compares with what PyTorch made of the same images. --plain: no colours.
import { readFileSync } from 'node:fs'
import { loadModule, tensor } from 'ptlite'

const here = new URL('.', import.meta.url)
const colours = process.stdout.isTTY && !process.argv.includes('--plain') && process.env.NO_COLOR === undefined
const PIXELS = 64
const SHOWN = 12
const PER_ROW = 4

/** The bytes of a uint8 .npy file: they follow a header whose length is in bytes 8 and 9. */
function readImages(name) {
  const file = readFileSync(new URL(name, here))
  return file.subarray(10 + file.readUInt16LE(8))
}

/** Probabilities of the ten digits, and the time it took. */
function recognise(module, image) {
  const input = tensor(image, [1, 1, 8, 8], 'uint8')
  const start = performance.now()
  const output = module.forward(input)
  const ms = performance.now() - start
  const probabilities = output.data()
  input.dispose()
  output.dispose()
  let digit = 0
  for (let i = 1; i < 10; i++) if (probabilities[i] > probabilities[digit]) digit = i
  return { digit, confidence: probabilities[digit], ms }
}

/** The image as lines of text, 16 characters wide. */
function picture(image) {
  const grey = (y, x) => 232 + Math.round((image[8 * y + x] / 16) * 23)
  const rows = colours ? [0, 2, 4, 6] : [0, 1, 2, 3, 4, 5, 6, 7]
  return rows.map((y) => {
    let line = ''
    for (let x = 0; x < 8; x++) {
      // a character is twice as high as wide: two pixels in one half block, or one pixel in two shades
      if (colours) line += `\x1b[38;5;${grey(y, x)};48;5;${grey(y + 1, x)}m▀`
      else line += ' ░▒▓█'[Math.round(image[8 * y + x] / 4)].repeat(2)
    }
    return colours ? `${line}\x1b[0m` : line
  })
}

function bar(share, width) {
  const eighths = Math.round(share * width * 8)
  return ('█'.repeat(eighths >> 3) + ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths & 7]).padEnd(width)
}

function paint(text, code) {
  return colours ? `\x1b[${code}m${text}\x1b[0m` : text
}

function show(images, labels, results, chosen) {
  const width = colours ? 8 : 16
  for (let i = 0; i < chosen.length; i += PER_ROW) {
    const row = chosen.slice(i, i + PER_ROW)
    const pictures = row.map((n) => picture(images[n]))
    for (let line = 0; line < pictures[0].length; line++)
      console.log(`  ${pictures.map((p) => p[line] + ' '.repeat(20 - width)).join('')}`.trimEnd())
    const verdicts = row.map((n) => {
      const { digit, confidence } = results[n]
      const right = digit === labels[n]
      const text = `${digit} ${right ? '✓' : `✗ is ${labels[n]}`}`.padEnd(8)
      return paint(text, right ? 32 : 31) + `${(100 * confidence).toFixed(1).padStart(5)} %`.padEnd(12)
    })
    console.log(`  ${verdicts.join('').trimEnd()}`)
    console.log(
      `  ${row
        .map((n) => paint(bar(results[n].confidence, 14), 36) + ' '.repeat(6))
        .join('')
        .trimEnd()}\n`,
    )
  }
}

const percent = (x) => `${(100 * x).toFixed(2)} %`
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

const expected = JSON.parse(readFileSync(new URL('expected.json', here), 'utf8'))
const pixels = readImages('images.npy')
const images = expected.labels.map((_, i) => pixels.subarray(PIXELS * i, PIXELS * (i + 1)))
const rows = []
let agrees = true

for (const [name, pytorch] of Object.entries(expected.files)) {
  const module = await loadModule(new URL(name, here))
  const results = images.map((image) => recognise(module, image))
  module.dispose()
  const right = results.map((r, i) => r.digit === expected.labels[i])
  const same = results.filter((r, i) => r.digit === pytorch.predictions[i]).length
  const difference = Math.max(...results.map((r, i) => Math.abs(r.confidence - pytorch.confidence[i])))
  agrees &&= same === images.length && difference < 1e-4
  if (rows.length === 0) {
    // the first of each digit, then the ones it gets wrong and the ones it is least sure of
    const sure = expected.labels
      .map((_, i) => i)
      .sort((a, b) => Number(right[a]) - Number(right[b]) || results[a].confidence - results[b].confidence)
    const chosen = new Set([...Array(10).keys()].map((digit) => expected.labels.indexOf(digit)))
    for (const i of sure) if (chosen.size < SHOWN) chosen.add(i)
    show(images, expected.labels, results, [...chosen])
  }
  rows.push([
    name,
    percent(right.filter(Boolean).length / images.length),
    percent(pytorch.accuracy),
    `${same} of ${images.length}`,
    difference.toExponential(0),
    `${median(results.map((r) => r.ms)).toFixed(3)} ms`,
  ])
}

const head = ['file', 'accuracy', 'PyTorch’s', 'same answers', 'largest difference', 'per image']
const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)))
const line = (row) => `  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('   ')}`
console.log(`  ${images.length} images that were held out of training; PyTorch 1.13 lite interpreter on the same images\n`)
console.log(paint(line(head), 1))
for (const row of rows) console.log(line(row))
if (!agrees) {
  console.error('\n  ptlite and PyTorch disagree')
  process.exitCode = 1
}
