// Which command a recording holds: node main.mjs [FILE.wav ...]
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadModule, melSpectrogram, readWav, resampleAudio } from 'ptlite'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const labels = readFileSync(here('labels.txt'), 'utf8').trim().split('\n')
const files = process.argv.length > 2 ? process.argv.slice(2) : [here('twice.wav')]
const RATE = 16000

const model = await loadModule(here('whistles.ptl'))
for (const file of files) {
  const { samples, sampleRate } = readWav(readFileSync(file))
  const mono = resampleAudio(samples.mean(0, true), sampleRate, RATE)
  // what the network was trained on
  const energies = melSpectrogram(mono, { sampleRate: RATE, nFft: 512, winLength: 400, hopLength: 160, nMels: 32, log: 'natural' })
  const [values, classes] = model.forward(energies).softmax().topk(1)
  console.log(`${file}: ${labels[Number(classes.item())]} ${(100 * values.item()).toFixed(1)} %`)
}
model.dispose()
