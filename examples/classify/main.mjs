// What is on a picture: node main.mjs [FILE.jpg ...]
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import jpeg from 'jpeg-js' // or sharp: `const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true })`
import { imageToTensor, loadModule } from 'ptlite'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const labels = readFileSync(here('labels.txt'), 'utf8').trim().split('\n')
const files = process.argv.length > 2 ? process.argv.slice(2) : [here('triangle.jpg')]

const model = await loadModule(here('shapes.pt2'))
for (const file of files) {
  const { data, width, height } = jpeg.decode(readFileSync(file), { useTArray: true })
  // what the network was trained on: 32 x 32 pixels from -1 to 1
  const x = imageToTensor({ data, width, height }, { resize: 32, crop: 32, mean: 0.5, std: 0.5 })
  const [values, classes] = model.forward(x).softmax().topk(2)
  const guesses = classes.toArray()[0].map((index, i) => `${labels[index]} ${(100 * values.toArray()[0][i]).toFixed(1)} %`)
  console.log(`${file}: ${guesses.join(', ')}`)
}
model.dispose()
