// Spoken digits: node main.mjs [--beams N] [FILE.wav ...], or with samples as they come, of 16 bits, 16000 a second:
//   arecord -q -f S16_LE -r 16000 -t raw | node main.mjs -
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import * as ptlite from 'ptlite'
import { openReader, RATE } from './reader.mjs'
import { Utterances } from './utterances.mjs'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const { values, positionals } = parseArgs({ options: { beams: { type: 'string', default: '1' } }, allowPositionals: true })
const beams = Number(values.beams)
const files = positionals.length > 0 ? positionals : ['pin.wav', 'code.wav', 'call.wav'].map(here)

const reader = await openReader(ptlite, {
  model: here('digits.ptl'),
  vocabulary: JSON.parse(readFileSync(here('vocab.json'), 'utf8')),
  words: readFileSync(here('digits.arpa'), 'utf8'),
})

if (files[0] === '-') await listen()
else
  for (const file of files) {
    const { text, words } = await reader.read(ptlite.readWav(readFileSync(file)), { beams })
    console.log(`${file.split('/').at(-1)}: ${text}  (${words.map(({ start }) => start.toFixed(2)).join(', ')} s)`)
  }
reader.close()

/** What is said, as soon as it has been: the network of ../voice tells when somebody speaks. */
async function listen() {
  const CHUNK = 512
  const MEL = { sampleRate: RATE, nFft: CHUNK, hopLength: CHUNK, nMels: 24, center: false, log: 'natural' }
  const voice = await ptlite.loadModule(here('../voice/voice.ptl'))
  const utterances = new Utterances(RATE)
  const show = async ({ samples, isWhole }) => {
    const { text } = await reader.read(samples, { beams })
    if (isWhole && text !== '') console.log(`${process.stdout.isTTY ? '\r' : ''}${text}`)
    else if (process.stdout.isTTY) process.stdout.write(`\r${text} …`)
  }
  for await (const chunk of chunksOf(process.stdin, CHUNK)) {
    const chance = voice.forward(ptlite.melSpectrogram(ptlite.tensor(chunk, [1, CHUNK]), MEL)).item()
    const found = utterances.add(chunk, chance)
    if (found !== null) await show(found)
  }
  const last = utterances.end()
  if (last !== null) await show(last)
  voice.dispose()
}

/** Chunks of so many samples of a stream of bytes, whose parts are of any length. */
async function* chunksOf(stream, count) {
  let rest = Buffer.alloc(0)
  for await (const part of stream) {
    rest = Buffer.concat([rest, part])
    for (; rest.length >= 2 * count; rest = rest.subarray(2 * count))
      yield Float32Array.from({ length: count }, (_, i) => rest.readInt16LE(2 * i) / 32768)
  }
}
