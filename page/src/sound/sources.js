import { CHUNK, RATE } from '../engine/voice.js'
import { decode, Recorder } from './recorder.js'

/* Where chunks of sound come from, one after the other, until the source is closed. */

export function openMicrophone(onChunk) {
  return Recorder.open({ sampleRate: RATE, chunk: CHUNK, onChunk })
}

/** Plays the bytes of a sound file, and gives each chunk when it is heard; `onEnd` is called behind the last one. */
export async function playSound(bytes, onChunk, onEnd) {
  const samples = await decode(bytes.slice(0), RATE)
  const audio = new Audio(URL.createObjectURL(new Blob([bytes], { type: 'audio/wav' })))
  let at = 0
  const began = performance.now()
  // it is heard if the browser lets it, and gives its chunks in any case
  audio.play().catch(() => {})
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) * RATE) / 1000 / CHUNK)
    for (; at < due && (at + 1) * CHUNK <= samples.length; at++) onChunk(samples.slice(at * CHUNK, (at + 1) * CHUNK))
    if ((at + 1) * CHUNK > samples.length) onEnd()
  }, 16)
  return {
    close() {
      clearInterval(timer)
      audio.pause()
      URL.revokeObjectURL(audio.src)
    },
  }
}
