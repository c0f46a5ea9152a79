import { RequestError } from '../protocol/error.js'
import type { NamedResult, Result, SentTensor } from './messages.js'
import { rowsOf } from './rows.js'
import type { Batch } from './worker.js'

type NamedTensor = NamedResult & { readonly value: SentTensor }

/** Gives each request of a batch its rows of the results, which stay where they are. */
export function divide({ jobs, rows }: Batch, { outputs }: Result): void {
  const hasRows = (each: NamedResult): each is NamedTensor => 'data' in each.value && each.value.shape[0] === rows
  if (!outputs.every(hasRows)) {
    const { shape } = outputs.find((each) => !hasRows(each))!.value
    const error = new RequestError(
      500,
      `a batch of ${rows} gave a result of shape [${shape.join(', ')}]; the model's rows cannot be batched`,
    )
    for (const job of jobs) job.settle(error, [])
    return
  }
  let row = 0
  for (const job of jobs) {
    const from = row
    row += job.rows
    job.settle(
      null,
      outputs.map(({ name, value }) => ({ name, value: rowsOf(value, from, row) })),
    )
  }
}
