// When somebody speaks: node main.mjs [FILE.wav], or with samples as they come, of 16 bits, 16000 a second:
//   arecord -q -f S16_LE -r 16000 -t raw | node main.mjs -
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadModule, melSpectrogram, readWav, resampleAudio, tensor } from 'ptlite'
import { Segments } from './segments.mjs'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const RATE = 16000
const CHUNK = 512
const file = process.argv[2] ?? here('talk.wav')

/** Chunks of a stream of bytes, whose parts are of any length. */
async function* chunksOfStream(stream) {
  let rest = Buffer.alloc(0)
  for await (const part of stream) {
    rest = Buffer.concat([rest, part])
    for (; rest.length >= 2 * CHUNK; rest = rest.subarray(2 * CHUNK))
      yield Float32Array.from({ length: CHUNK }, (_, i) => rest.readInt16LE(2 * i) / 32768)
  }
}

function* chunksOfFile(path) {
  const { samples, sampleRate } = readWav(readFileSync(path))
  const mono = resampleAudio(samples.mean(0, true), sampleRate, RATE).data()
  for (let i = 0; i + CHUNK <= mono.length; i += CHUNK) yield mono.subarray(i, i + CHUNK)
}

const model = await loadModule(here('voice.ptl'))
// what the network was trained on
const MEL = { sampleRate: RATE, nFft: CHUNK, hopLength: CHUNK, nMels: 24, center: false, log: 'natural' }
/** The chance of a voice in the next chunk. */
const hear = (chunk) => model.forward(melSpectrogram(tensor(chunk, [1, CHUNK]), MEL)).item()

// the first calls compile the model, which is done before anybody speaks
for (let i = 0; i < 4; i++) hear(new Float32Array(CHUNK))
model.call('reset') // it remembers what it has heard

const segments = new Segments(CHUNK / RATE)
const took = []
const show = (segment) => segment && console.log(`${segment.from.toFixed(2)} s to ${segment.to.toFixed(2)} s`)
for await (const chunk of file === '-' ? chunksOfStream(process.stdin) : chunksOfFile(file)) {
  const start = performance.now()
  const chance = hear(chunk)
  took.push(performance.now() - start)
  show(segments.add(chance))
}
show(segments.end())
took.sort((a, b) => a - b)
const at = (share) => `${took[Math.floor(share * (took.length - 1))]?.toFixed(2)} ms`
console.log(`${took.length} chunks of ${(1000 * CHUNK) / RATE} ms, each in ${at(0.5)} (median), ${at(0.99)} (99 of 100)`)
model.dispose()
