import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** ExecuTorch's executor_runner with a program: a process for each turn, which says how long each of its executions took. */
export class ExecutorRunner {
  constructor(binary, path, inputs, threads) {
    Object.assign(this, { binary, path, threads })
    this.folder = mkdtempSync(join(tmpdir(), 'ptlite-executorch-'))
    // of None it takes no file, and then all tensors are ones
    const tensors = inputs.every((value) => typeof value?.data === 'function') ? inputs : []
    this.files = tensors.map((value, i) => {
      const file = join(this.folder, `input-${i}.bin`)
      const { buffer, byteOffset, byteLength } = value.data()
      writeFileSync(file, new Uint8Array(buffer, byteOffset, byteLength))
      return file
    })
  }

  /** Milliseconds of each of `runs` executions. */
  time(runs) {
    const { stdout, stderr, status } = spawnSync(
      this.binary,
      [
        `--model_path=${this.path}`,
        `--num_executions=${runs}`,
        `--cpu_threads=${this.threads}`,
        ...(this.files.length === 0 ? [] : [`--inputs=${this.files.join()}`]),
        `--output_file=${join(this.folder, 'output')}`,
        '--print_output=none',
      ],
      { encoding: 'utf8', maxBuffer: 1 << 28 },
    )
    const text = `${stdout}\n${stderr}`
    const times = [...text.matchAll(/Iteration \d+ of \d+: ([\d.]+) ms/g)].map(([, ms]) => Number(ms))
    if (status !== 0 || times.length !== runs)
      throw new Error(text.match(/(?:error|Check failed|not found|Missing)[^\n]*/i)?.[0] ?? `exit status ${status}`)
    return times
  }

  /** What the last execution returned first, as float32. */
  result() {
    const bytes = readFileSync(join(this.folder, 'output-0.bin'))
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  }

  close() {
    rmSync(this.folder, { recursive: true })
  }
}
