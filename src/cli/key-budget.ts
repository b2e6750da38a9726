import { ApiError, type ApiClient } from '../app/client/api-client.ts'
import type { BudgetBody, CreateBudgetBody } from '../http/admin/budgets/schema.ts'
import type { CreatedKeyBody } from '../http/admin/operator-keys.ts'
import { readNumber } from './arguments.ts'
import { budgetsPath } from './budgets.ts'
import { UsageError } from './command.ts'
import type { Result } from './run-on-server.ts'

/** The options of a budget that is created with a key. */
export const budgetOptions = {
  'budget-usd': { type: 'string' },
  'budget-tokens': { type: 'string' },
  'budget-requests': { type: 'string' },
  'budget-period': { type: 'string' },
  'budget-action': { type: 'string' },
} as const

type Values = { readonly [Name in keyof typeof budgetOptions]?: string | undefined } & {
  readonly admin?: boolean | undefined
}

type KeyBudget = Omit<CreateBudgetBody, 'name' | 'match'>

const units = ['usd', 'tokens', 'requests'] as const
const fields = { usd: 'amount_usd', tokens: 'tokens', requests: 'requests' } as const
const most = { usd: 1_000_000_000, tokens: 1_000_000_000_000_000, requests: 1_000_000_000_000_000 } as const
const periods = ['day', 'week', 'month', 'once'] as const
const actions = ['deny', 'warn'] as const
const maxNameLength = 80

/** The budget that the options describe; undefined without one. Wrong options are found before a key is created. */
export function readKeyBudget(values: Values): KeyBudget | undefined {
  const given = units.filter((unit) => values[`budget-${unit}`] !== undefined)
  const [unit] = given
  if (given.length > 1)
    throw new UsageError('Only one of --budget-usd, --budget-tokens and --budget-requests is allowed.')
  const { 'budget-period': period = 'month', 'budget-action': action = 'deny' } = values
  if (unit === undefined) {
    if ((values['budget-period'] ?? values['budget-action']) === undefined) return undefined
    throw new UsageError('--budget-period and --budget-action need --budget-usd, --budget-tokens or --budget-requests.')
  }
  if (values.admin) throw new UsageError('A budget is for API keys, not for administrator keys.')
  const amount = readNumber(values[`budget-${unit}`], `--budget-${unit}`) ?? 0
  if (amount === 0 || amount > most[unit] || Number(amount.toFixed(unit === 'usd' ? 6 : 0)) !== amount)
    throw new UsageError(
      `--budget-${unit} must be more than 0, at most ${most[unit]}, ${unit === 'usd' ? 'with at most 6 decimals' : 'and whole'}.`,
    )
  return {
    [fields[unit]]: amount,
    period: oneOf(periods, period, '--budget-period'),
    action: oneOf(actions, action, '--budget-action'),
  }
}

function oneOf<Word extends string>(words: readonly Word[], given: string, option: string): Word {
  const found = words.find((word) => word === given)
  if (found === undefined) throw new UsageError(`${option} must be one of ${words.join(', ')}.`)
  return found
}

/** Creates the budget of a new key. The key is printed also if that fails, because its secret is shown only once. */
export async function withBudget(
  client: ApiClient,
  key: CreatedKeyBody,
  { result, budget }: { readonly result: Result; readonly budget: KeyBudget },
): Promise<Result> {
  try {
    const created = await createBudget(client, key, budget)
    return {
      json: { ...key, budget: created },
      text: `${result.text}\nIts budget is ${created.id} ${created.name}.`,
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const warning = `The key was created, but its budget was not: ${reason} Create it with gatehouse budgets create.`
    return { ...result, warnings: [warning], isFailed: true }
  }
}

/** The budget matches exactly this key. It has the name of the key, and if that is taken, also the end of its id. */
async function createBudget(client: ApiClient, { id, name }: CreatedKeyBody, budget: KeyBudget): Promise<BudgetBody> {
  const create = (as: string): Promise<BudgetBody> =>
    client.post<BudgetBody>(budgetsPath, { ...budget, name: as, match: { api_key_ids: [id] } })
  try {
    return await create(name)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'duplicate_name') throw error
    const end = id.slice(-6)
    return create(`${[...name].slice(0, maxNameLength - end.length - 1).join('')} ${end}`)
  }
}
