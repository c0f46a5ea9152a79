/*
 * Whether there is any tensor of a dtype with little arithmetic: where there is none, operators look at no argument for it.
 */

let exist = false

/** A tensor of such a dtype was made. */
export function noteLimited(): void {
  exist = true
}

/** Whether one was ever made. */
export function limitedExist(): boolean {
  return exist
}
