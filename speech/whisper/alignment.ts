/** Places on each side that a median is taken over. */
const REACH = 3

/**
 * The frame in which each token begins, by where the decoder looked: each head's attention, brought to mean 0 and variance 1 over the tokens, smoothed by a median, and the way of least cost through the mean of all heads (Whisper's
 * word timestamps). `rows`: of each token, a row of at least `frames` for each head.
 */
export function alignedFrames(rows: readonly (readonly Float32Array[])[], frames: number): number[] {
  const heads = rows[0]?.length ?? 0
  const mean = rows.map(() => new Float64Array(frames))
  for (let head = 0; head < heads; head++) {
    const normal = normalized(rows.map((each) => each[head]!), frames) // prettier-ignore
    for (const [i, row] of normal.entries()) {
      const smooth = medians(row)
      for (let f = 0; f < frames; f++) mean[i]![f]! += smooth[f]! / heads
    }
  }
  return cheapestWay(mean)
}

/** Over the tokens, for each frame. */
function normalized(rows: readonly Float32Array[], frames: number): Float32Array[] {
  const found = rows.map(() => new Float32Array(frames))
  for (let f = 0; f < frames; f++) {
    let sum = 0
    for (const row of rows) sum += row[f]!
    const mean = sum / rows.length
    let squares = 0
    for (const row of rows) squares += (row[f]! - mean) ** 2
    const deviation = Math.sqrt(squares / rows.length)
    for (const [i, row] of rows.entries()) found[i]![f] = deviation > 0 ? (row[f]! - mean) / deviation : 0
  }
  return found
}

/** Of seven values around each, mirrored at both ends. */
function medians(row: Float32Array): Float32Array {
  const { length } = row
  if (length <= REACH) return row
  const at = (i: number): number => row[i < 0 ? -i : i >= length ? 2 * (length - 1) - i : i]!
  const window = new Float32Array(2 * REACH + 1)
  return row.map((_, i) => {
    for (let j = -REACH; j <= REACH; j++) window[j + REACH] = at(i + j)
    return window.sort()[REACH]!
  })
}

/** Dynamic time warping: tokens and frames both go on, together or one of them, so that the sum of `gains` is largest. Gives the first frame of each token. */
function cheapestWay(gains: readonly Float64Array[]): number[] {
  const frames = gains[0]?.length ?? 0
  const width = frames + 1
  const cost = new Float32Array((gains.length + 1) * width).fill(Infinity)
  const from = new Uint8Array(cost.length)
  cost[0] = 0
  for (let i = 1; i <= gains.length; i++)
    for (let j = 1; j <= frames; j++) {
      const at = i * width + j
      const [both, token, frame] = [cost[at - width - 1]!, cost[at - width]!, cost[at - 1]!]
      const step = both < token && both < frame ? BOTH : token < both && token < frame ? TOKEN : FRAME
      from[at] = step
      cost[at] = (step === BOTH ? both : step === TOKEN ? token : frame) - gains[i - 1]![j - 1]!
    }
  const first = Array<number>(gains.length).fill(0)
  for (let i = gains.length, j = frames; i > 0;) {
    if (j > 0) first[i - 1] = j - 1
    const step = j === 0 ? TOKEN : from[i * width + j]!
    if (step !== FRAME) i--
    if (step !== TOKEN) j--
  }
  return first
}

const BOTH = 0
const TOKEN = 1
const FRAME = 2
