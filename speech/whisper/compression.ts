/** How many times smaller zlib makes tokens, in as few bytes each as a vocabulary takes: transformers' `_retrieve_compression_ratio`. */
export async function compressionRatioOf(tokens: readonly number[], vocabulary: number): Promise<number> {
  const width = Math.floor(Math.log2(vocabulary) / 8) + 1
  const bytes = new Uint8Array(tokens.length * width)
  for (const [i, token] of tokens.entries()) for (let b = 0; b < width; b++) bytes[i * width + b] = Math.floor(token / 256 ** b) % 256
  return bytes.length / (await compressedLength(bytes))
}

async function compressedLength(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const reader = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate')).getReader()
  for (let length = 0; ;) {
    const piece = (await reader.read()) as { readonly value?: Uint8Array }
    if (piece.value === undefined) return length
    length += piece.value.length
  }
}
