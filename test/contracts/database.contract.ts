import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DatabaseError, UnexpectedRows, type Database } from '../../src/adapters/stores/sql/database.ts'
import { toStatements } from '../../src/adapters/stores/sql/migration-statements.ts'
import { hasReason } from '../support/database-errors.ts'

const schema = `
  create table owner (id TEXT primary key) STRICT;
  create table item (
    id TEXT primary key,
    owner_id TEXT references owner (id),
    revision INTEGER not null default 1,
    amount INTEGER check (amount >= 0),
    body BLOB,
    ratio REAL
  ) STRICT;
`

export type ContractOptions = {
  readonly skip?: string | false
  /** The engine has one session, so a read waits for an open transaction. */
  readonly isSingleSession?: boolean
}

export type OpenOptions = { readonly reportTimeoutMs?: number }

type Open = (options?: OpenOptions) => Promise<Database>

/** The contract of every database engine. `open` creates an empty database. */
export function databaseContract(name: string, open: Open, options: ContractOptions = {}): void {
  const { skip = false, isSingleSession = false } = options

  async function openWithTables(settings?: OpenOptions): Promise<Database> {
    const database = await open(settings)
    await database.write(toStatements(schema, database.engine).map((sql) => ({ sql })))
    return database
  }

  describe(`database: ${name}`, { skip }, () => {
    describe('reads and writes', () => {
      it('reads what was written', async () => {
        await using database = await openWithTables()
        const [inserted] = await database.write([insert('a', 7)])
        assert.deepEqual(inserted, { rows: [], changed: 1 })
        assert.deepEqual(await database.read('select id, amount from item'), [{ id: 'a', amount: 7 }])
      })

      it('returns the rows of a statement', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 1), insert('b', 2)])
        const results = await database.write([
          { sql: 'update item set amount = amount + $1 where id = $2 returning amount', params: [5, 'a'], expect: 1 },
          { sql: 'delete from item where id = $1', params: ['nobody'] },
          { sql: 'select id from item order by id' },
        ])
        assert.deepEqual(results, [
          { rows: [{ amount: 6 }], changed: 1 },
          { rows: [], changed: 0 },
          { rows: [{ id: 'a' }, { id: 'b' }], changed: 2 },
        ])
      })

      it('writes in two parts, of which the second depends on the last rows of the first', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 7), insert('b', 8)])
        const first = [
          { sql: 'update item set amount = amount + 1 where id = $1 returning id', params: ['a'] },
          { sql: 'select amount from item where id = $1', params: ['a'] },
        ]
        await database.writeAfter<{ amount: number }>(first, ([row]) => [
          { sql: 'update item set amount = $1 where id = $2', params: [(row?.amount ?? 0) * 10, 'b'] },
          insert('c', 1),
        ])
        assert.deepEqual(await database.read('select id, amount from item order by id'), [
          { id: 'a', amount: 8 },
          { id: 'b', amount: 80 },
          { id: 'c', amount: 1 },
        ])
      })

      it('rolls both parts back if the second fails or cannot be made', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 7)])
        const first = [{ sql: 'update item set amount = amount + 1 where id = $1', params: ['a'] }]
        await assert.rejects(
          database.writeAfter(first, () => [insert('b', 1), insert('a', 1)]),
          hasReason('unique'),
        )
        await assert.rejects(
          database.writeAfter(first, () => {
            throw new Error('no second part')
          }),
          /no second part/,
        )
        assert.deepEqual(await database.read('select id, amount from item'), [{ id: 'a', amount: 7 }])
      })

      it('preserves values', async () => {
        await using database = await openWithTables()
        const body = Uint8Array.from([0, 1, 254, 255])
        const rows = [
          { id: 'é “quoted” 𝄞', amount: Number.MAX_SAFE_INTEGER, body, ratio: 0.1 },
          { id: '', amount: 0, body: new Uint8Array(), ratio: -1.5e300 },
          { id: 'null', amount: null, body: null, ratio: null },
        ]
        await database.write(
          rows.map((row) => ({
            sql: 'insert into item (id, amount, body, ratio) values ($1, $2, $3, $4)',
            params: [row.id, row.amount, row.body, row.ratio],
          })),
        )
        const read = await database.read('select id, amount, body, ratio from item order by id desc')
        assert.deepEqual(new Set(read), new Set(rows))
      })

      it('accepts a bigint and returns a number', async () => {
        await using database = await openWithTables()
        await database.write([{ sql: 'insert into item (id, amount) values ($1, $2)', params: ['a', 12n] }])
        assert.deepEqual(await database.read('select amount from item where amount = $1', [12n]), [{ amount: 12 }])
      })

      it('rejects an integer beyond the safe range', async () => {
        await using database = await openWithTables()
        await database.write([{ sql: 'insert into item (id, amount) values ($1, $2)', params: ['a', 2n ** 53n + 1n] }])
        await assert.rejects(database.read('select amount from item'), hasReason('other'))
      })

      it('returns counts, sums and comparisons as numbers', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', Number.MAX_SAFE_INTEGER - 1), insert('b', 1)])
        assert.deepEqual(
          await database.read('select count(*) as count, sum(amount) as sum, min(amount) > 0 as positive from item'),
          [{ count: 2, sum: Number.MAX_SAFE_INTEGER, positive: 1 }],
        )
      })

      it('treats a whole number as an integer, even without a column type', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 7)])
        assert.deepEqual(await database.read('select amount / $1 as third from item', [2]), [{ third: 3 }])
      })

      it('accepts repeated parameters and parameters out of order', async () => {
        await using database = await openWithTables()
        await database.write([{ sql: 'insert into item (amount, revision, id) values ($2, $2, $1)', params: ['a', 3] }])
        assert.deepEqual(await database.read("select id, revision, '$1' as text from item where amount = $1", [3]), [
          { id: 'a', revision: 3, text: '$1' },
        ])
      })

      it('rejects a text of several statements', async () => {
        await using database = await openWithTables()
        const sql = "insert into item (id) values ('a'); insert into item (id) values ('b')"
        await assert.rejects(database.write([{ sql }]), hasReason('other'))
        assert.equal(await countItems(database), 0)
      })

      it('upserts, and counts no row if nothing changed', async () => {
        await using database = await openWithTables()
        const sql = 'insert into item (id, amount) values ($1, $2) on conflict (id) do nothing'
        const first = await database.write([{ sql, params: ['a', 1] }])
        const second = await database.write([{ sql, params: ['a', 2] }])
        assert.deepEqual([first[0]?.changed, second[0]?.changed], [1, 0])
      })
    })

    describe('steps', () => {
      it('applies all statements of a step or none', async () => {
        await using database = await openWithTables()
        await assert.rejects(database.write([insert('a', 1), insert('b', 1), insert('a', 2)]), hasReason('unique'))
        assert.equal(await countItems(database), 0)
      })

      it('rolls a step back if a statement changes another number of rows than expected', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 1)])
        const step = [insert('b', 1), { ...guardedUpdate('a', 1), expect: 1 }, { ...guardedUpdate('a', 9), expect: 1 }]
        await assert.rejects(database.write(step), (error) => {
          assert.ok(error instanceof UnexpectedRows)
          assert.deepEqual([error.statement, error.changed], [2, 0])
          return true
        })
        assert.deepEqual(await database.read('select id, revision from item'), [{ id: 'a', revision: 1 }])
      })

      it('can expect that no row is changed', async () => {
        await using database = await openWithTables()
        await database.write([{ sql: 'delete from item', expect: 0 }, insert('a', 1)])
        await assert.rejects(database.write([{ sql: 'delete from item', expect: 0 }]), UnexpectedRows)
        assert.equal(await countItems(database), 1)
      })

      it('keeps the other steps if one fails', async () => {
        await using database = await openWithTables()
        await database.write([insert('taken', 1)])
        const outcomes = await Promise.allSettled([
          database.write([insert('a', 1)]),
          database.write([insert('b', 1), insert('taken', 1)]),
          database.write([insert('c', -1)]),
          database.write([{ sql: 'no such statement' }]),
          database.write([insert('d', 1), { ...guardedUpdate('d', 8), expect: 1 }]),
          database.write([insert('e', 1), insert('f', 1)]),
        ])
        const expected = ['fulfilled', 'rejected', 'rejected', 'rejected', 'rejected', 'fulfilled']
        assert.deepEqual(
          outcomes.map(({ status }) => status),
          expected,
        )
        assert.deepEqual(await database.read('select id from item order by id'), [
          { id: 'a' },
          { id: 'e' },
          { id: 'f' },
          { id: 'taken' },
        ])
      })

      it('lets exactly one of fifty concurrent guarded updates succeed', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 1)])
        const racers = Array.from({ length: 50 }, () => database.write([{ ...guardedUpdate('a', 1), expect: 1 }]))
        const outcomes = await Promise.allSettled(racers)
        const losers = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
        assert.equal(losers.length, 49)
        assert.ok(losers.every((reason) => reason instanceof UnexpectedRows))
        assert.deepEqual(await database.read('select revision from item'), [{ revision: 2 }])
      })

      it('loses no increment among many writers', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 0)])
        const increment = { sql: "update item set amount = amount + 1 where id = 'a'" }
        await Promise.all(Array.from({ length: 100 }, () => database.write([increment, increment])))
        assert.deepEqual(await database.read('select amount from item'), [{ amount: 200 }])
      })
    })

    describe('transactions', () => {
      it('commits the work and returns its result', async () => {
        await using database = await openWithTables()
        const answer = await database.transaction(async (tx) => {
          assert.equal(await tx.run('insert into item (id, amount) values ($1, $2)', ['a', 1]), 1)
          return await tx.query('select id, amount from item')
        })
        assert.deepEqual(answer, [{ id: 'a', amount: 1 }])
        assert.equal(await countItems(database), 1)
      })

      it('rolls back if the work throws, and throws the same error', async () => {
        await using database = await openWithTables()
        const mistake = new Error('changed my mind')
        const transaction = database.transaction(async (tx) => {
          await tx.run("insert into item (id) values ('a')")
          throw mistake
        })
        await assert.rejects(transaction, mistake)
        assert.equal(await countItems(database), 0)
      })

      it('rolls back if a statement failed, even if the work continues', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 1)])
        const transaction = database.transaction(async (tx) => {
          await tx.run("insert into item (id) values ('b')")
          await tx.run("insert into item (id) values ('a')").catch(() => undefined)
          return 'done'
        })
        await assert.rejects(transaction, hasReason('unique'))
        assert.equal(await countItems(database), 1)
      })

      it('waits for statements that the work did not await', async () => {
        await using database = await openWithTables()
        let inserted: Promise<number> | undefined
        await database.transaction(async (tx) => {
          inserted = tx.run("insert into item (id) values ('a')")
        })
        assert.equal(await inserted, 1)
        assert.equal(await countItems(database), 1)
      })

      it('rejects statements after its end', async () => {
        await using database = await openWithTables()
        const tx = await database.transaction(async (work) => work)
        await assert.rejects(tx.run("insert into item (id) values ('late')"), hasReason('other'))
        assert.equal(await countItems(database), 0)
      })

      it('shows no uncommitted changes to others', async () => {
        await using database = await openWithTables()
        const undone = new Error('undo')
        let seen: Promise<number> | undefined
        const transaction = database.transaction(async (tx) => {
          await tx.run("insert into item (id) values ('a')")
          seen = countItems(database)
          if (!isSingleSession) await seen
          throw undone
        })
        await assert.rejects(transaction, undone)
        assert.equal(await seen, 0)
      })

      it('runs the steps and transactions that were queued meanwhile', async () => {
        await using database = await openWithTables()
        const transactions = Array.from({ length: 12 }, (_, index) =>
          database.transaction(async (tx) => {
            await tx.run('insert into item (id) values ($1)', [`transaction ${index}`])
            if (index % 3 === 0) throw new Error('undo')
          }),
        )
        const steps = Array.from({ length: 12 }, (_, index) => database.write([insert(`step ${index}`, 1)]))
        await Promise.allSettled([...transactions, ...steps])
        assert.equal(await countItems(database), 8 + 12)
      })

      it('lets exactly one of fifty transactions succeed with a guarded update', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 1)])
        const { sql, params } = guardedUpdate('a', 1)
        const racers = Array.from({ length: 50 }, () => database.transaction((tx) => tx.run(sql, params)))
        const touched = await Promise.all(racers)
        assert.equal(
          touched.reduce((sum, count) => sum + count, 0),
          1,
        )
      })
    })

    describe('reports', () => {
      it('sees every write that resolved before', async () => {
        await using database = await openWithTables()
        for (const id of ['a', 'b', 'c']) {
          await database.write([insert(id, 1)])
          assert.deepEqual((await database.report('select id from item order by id desc limit 1'))[0], { id })
        }
        await database.transaction((tx) => tx.run('delete from item where id = $1', ['c']))
        assert.deepEqual(await database.report('select id, amount from item where id = $1', ['b']), [
          { id: 'b', amount: 1 },
        ])
        assert.deepEqual(await database.report('select count(*) as count from item'), [{ count: 2 }])
      })

      it('runs many at once', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 1)])
        const counts = Array.from({ length: 20 }, () => database.report('select count(*) as count from item'))
        for (const rows of await Promise.all(counts)) assert.deepEqual(rows, [{ count: 1 }])
      })

      it('rejects with the reason of a wrong statement', async () => {
        await using database = await openWithTables()
        await assert.rejects(database.report('select colour from item'), hasReason('other'))
        await assert.rejects(database.report('select id from nowhere'), hasReason('rejected'))
      })
    })

    // An engine with one shared, writable session cannot pass these.
    if (!isSingleSession) {
      describe('sessions', () => {
        it('rejects writes in a read', async () => {
          await using database = await openWithTables()
          await assert.rejects(database.read("insert into item (id) values ('a')"), DatabaseError)
          assert.equal(await countItems(database), 0)
        })

        it('rejects writes in a report', async () => {
          await using database = await openWithTables()
          await assert.rejects(database.report("insert into item (id) values ('a')"), DatabaseError)
          assert.equal(await countItems(database), 0)
        })

        it('shows no uncommitted changes to a report', async () => {
          await using database = await openWithTables()
          await database.transaction(async (tx) => {
            await tx.run("insert into item (id) values ('a')")
            assert.deepEqual(await database.report('select id from item'), [])
          })
          assert.deepEqual(await database.report('select id from item'), [{ id: 'a' }])
        })

        it('writes and reads while a report runs', async () => {
          await using database = await openWithTables()
          const order: string[] = []
          const report = database.report(countTo(3_000_000)).then(() => order.push('report'))
          await database.write([insert('a', 1)])
          await database.transaction((tx) => tx.run("update item set amount = 2 where id = 'a'"))
          await countItems(database)
          order.push('others')
          await report
          assert.deepEqual(order, ['others', 'report'])
        })

        it('ends a report after its deadline with the reason timeout, and continues with the next', async () => {
          await using database = await openWithTables({ reportTimeoutMs: 300 })
          await assert.rejects(database.report(countTo(5_000_000)), hasReason('timeout'))
          await database.write([insert('a', 1)])
          assert.deepEqual(await database.report('select id from item'), [{ id: 'a' }])
        })

        it('rejects everything after it was closed, and can be closed twice', async () => {
          const database = await openWithTables()
          await database[Symbol.asyncDispose]()
          await database[Symbol.asyncDispose]()
          await assert.rejects(database.read('select 1 as one'), hasReason('unavailable'))
          await assert.rejects(database.report('select 1 as one'), hasReason('unavailable'))
          await assert.rejects(database.write([insert('a', 1)]), hasReason('unavailable'))
          await assert.rejects(
            database.transaction(async () => 1),
            hasReason('unavailable'),
          )
        })

        it('finishes the work that started before it was closed', async () => {
          const database = await openWithTables()
          const written = database.write([insert('a', 1)])
          const changed = database.transaction((tx) => tx.run("update item set amount = 2 where id = 'a'"))
          const read = database.read('select 1 as one')
          const report = database.report('select 1 as one')
          await database[Symbol.asyncDispose]()
          await Promise.all([written, changed, read, report])
        })
      })
    }

    describe('error reasons', () => {
      it('is unique for a second row with the same key', async () => {
        await using database = await openWithTables()
        await database.write([insert('a', 1)])
        await assert.rejects(database.write([insert('a', 1)]), hasReason('unique'))
      })

      it('is foreign_key for a row without its parent, and for a parent that is still referenced', async () => {
        await using database = await openWithTables()
        const owned = { sql: 'insert into item (id, owner_id) values ($1, $2)', params: ['a', 'o'] }
        await assert.rejects(database.write([owned]), hasReason('foreign_key'))
        await database.write([{ sql: "insert into owner (id) values ('o')" }, owned])
        await assert.rejects(database.write([{ sql: 'delete from owner' }]), hasReason('foreign_key'))
      })

      it('is check for a value that the table forbids', async () => {
        await using database = await openWithTables()
        await assert.rejects(database.write([insert('a', -1)]), hasReason('check'))
        await assert.rejects(
          database.write([{ sql: "insert into item (id, revision) values ('a', null)" }]),
          hasReason('check'),
        )
      })

      for (const [reason, sql] of [
        ['other', 'select colour from item'],
        ['rejected', 'select id from nowhere'],
      ] as const)
        it(`is ${reason} for ${sql}`, async () => {
          await using database = await openWithTables()
          await assert.rejects(database.read(sql), hasReason(reason))
          await assert.rejects(database.write([{ sql }]), hasReason(reason))
          await assert.rejects(
            database.transaction((tx) => tx.query(sql)),
            hasReason(reason),
          )
        })
    })
  })
}

/** Takes long without a table. */
const countTo = (last: number): string =>
  `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${last})
   select count(*) as count from numbers`

const insert = (id: string, amount: number) => ({
  sql: 'insert into item (id, amount) values ($1, $2)',
  params: [id, amount],
})

const guardedUpdate = (id: string, revision: number) => ({
  sql: 'update item set revision = revision + 1 where id = $1 and revision = $2',
  params: [id, revision],
})

async function countItems(database: Database): Promise<number> {
  const [row] = await database.read<{ count: number }>('select count(*) as count from item')
  return row?.count ?? 0
}
