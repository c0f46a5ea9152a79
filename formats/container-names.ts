const CONTAINERS: Readonly<Record<string, string>> = {
  ptl: 'zip',
  pt2: 'program of torch.export',
  torchscript: 'zip with code',
  ff: 'flatbuffer',
  pte: 'program of ExecuTorch',
  ptlc: 'compiled ahead',
}

/** What the files of a format are made of, as `ptlite inspect` says it. */
export function containerOf(format: string): string {
  return CONTAINERS[format]!
}
