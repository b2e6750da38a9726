import { connect, type Connection } from '../app/operations/open.ts'
import type { CommandContext } from './command.ts'

/** What came of a command. */
export type Result = {
  /** For scripts. */
  readonly answer: unknown
  /** For eyes. */
  readonly text: string
  readonly remarks?: readonly string[]
  /** The exit code is then 1. */
  readonly isRefused?: boolean
}

export type Work = (house: Connection) => Promise<Result>

/** Does the work in the house that the configuration names, and says what came of it as it was asked for. */
export async function runOnServer(
  { config, say, remark }: CommandContext,
  { json }: { readonly json?: boolean | undefined },
  work: Work,
): Promise<number> {
  await using house = await connect(config())
  const { answer, text, remarks = [], isRefused = false } = await work(house)
  for (const each of remarks) remark(each)
  say(json ? JSON.stringify(answer, null, 2) : text)
  return isRefused ? 1 : 0
}
