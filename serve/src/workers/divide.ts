import { RequestError } from '../protocol/error.js'
import type { NamedResult, Result } from './messages.js'
import type { Batch } from './worker.js'

/** Gives each request of a batch its rows of the results, which stay where they are. */
export function divide({ jobs, rows }: Batch, { outputs }: Result): void {
  const wrong = outputs.find(({ value }) => 'strings' in value || value.shape[0] !== rows)
  if (wrong !== undefined) {
    const error = new RequestError(
      500,
      `a batch of ${rows} gave a result of shape [${wrong.value.shape.join(', ')}]; the model's rows cannot be batched`,
    )
    for (const job of jobs) job.settle(error, [])
    return
  }
  let row = 0
  for (const job of jobs) {
    const from = row
    row += job.rows
    const own = outputs.map(({ name, value }): NamedResult => {
      if ('strings' in value) throw new Error('strings have no rows')
      const { datatype, shape, data } = value
      const length = data.length / rows
      return { name, value: { datatype, shape: [job.rows, ...shape.slice(1)], data: data.subarray(from * length, row * length) } }
    })
    job.settle(null, own)
  }
}
