import type { BudgetSlices } from '../../../../domain/judges/day-budget.ts'
import type { Database } from '../database.ts'

/** What of the budgets of judges nodes have reserved, in SQL. */
export const budgetSlices = (database: Database): BudgetSlices => ({
  async take({ name, day, micros, maxMicros }) {
    if (micros > maxMicros) return false
    const [taken] = await database.write([
      {
        sql: `insert into judge_budget (name, day, taken_micros) values ($1, $2, $3)
          on conflict (name, day) do update set taken_micros = judge_budget.taken_micros + $3
          where judge_budget.taken_micros + $3 <= $4`,
        params: [name, day, micros, maxMicros],
      },
    ])
    return taken?.changed === 1
  },
  async giveBack({ name, day, micros }) {
    await database.write([
      {
        sql: 'update judge_budget set taken_micros = taken_micros - $3 where name = $1 and day = $2',
        params: [name, day, micros],
      },
    ])
  },
})
