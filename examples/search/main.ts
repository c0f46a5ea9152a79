// The pictures of a folder that are most like others: npx tsx main.ts [FOLDER QUERY.png ...]
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PNG } from 'pngjs'
import { cat, imageToTensor, loadModule, type Tensor } from 'ptlite'

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const given = process.argv.slice(2)
const [folder, ...queries] = given.length > 0 ? given : [here('pictures'), here('query.png')]
const BATCH = 16
const NEAREST = 5

using model = await loadModule(here('embedder.pt2'))

/** A vector of length 1 for each picture: [files, numbers]. */
function embed(files: readonly string[]): Tensor {
  const parts: Tensor[] = []
  for (let i = 0; i < files.length; i += BATCH) {
    const pictures = files.slice(i, i + BATCH).map((file) => PNG.sync.read(readFileSync(file)))
    // what the network was trained on: 32 x 32 pixels from -1 to 1; the last batch may be a smaller one
    using batch = imageToTensor(pictures, { resize: [32, 32], mean: 0.5, std: 0.5 })
    parts.push(model.forward<Tensor>(batch))
  }
  return cat(parts)
}

const names = readdirSync(folder!).filter((name) => name.endsWith('.png')).sort() // prettier-ignore
using index = embed(names.map((name) => join(folder!, name)))
using asked = embed(queries)
// of vectors of length 1 the products are cosines: 1 is the same, 0 has nothing in common
using alike = asked.matmul(index.transpose(0, 1))
const [scores, places] = alike.topk(Math.min(NEAREST, names.length))
const [cosines, found] = [scores.toArray() as number[][], places.toArray() as number[][]]
for (const [i, query] of queries.entries()) {
  console.log(`${basename(query)}:`)
  for (const [k, place] of found[i]!.entries()) console.log(`  ${cosines[i]![k]!.toFixed(3)}  ${names[place]}`)
}
