import { DatabaseSync } from 'node:sqlite'
import { migrationTable, type Migration } from '../migrate.ts'
import { toStatements } from '../migration-statements.ts'

/** Tables that a data folder or a backup may have beside those of the migrations. */
const otherTables: ReadonlySet<string> = new Set(['backup_manifest', 'redo_position', 'redo_loss'])

/**
 * The first object of a database that the migrations did not create, or that they create otherwise; undefined if there is none. A foreign
 * trigger or view would change what the statements of the server do.
 */
export function foreignObject(database: DatabaseSync, migrations: readonly Migration[]): string | undefined {
  const expected = new DatabaseSync(':memory:')
  try {
    for (const sql of [migrationTable, ...migrations.map((migration) => migration.sql)])
      for (const statement of toStatements(sql, 'sqlite')) expected.exec(statement)
    const [known, found] = [objectsOf(expected), objectsOf(database)]
    const names = new Set([...known.keys(), ...found.keys()])
    return [...names].find((name) => known.get(name) !== found.get(name))
  } finally {
    expected.close()
  }
}

/** A description of each object by its type and name. Tables are compared by columns, because `alter table` changes their text. */
function objectsOf(database: DatabaseSync): Map<string, string> {
  const rows = database
    .prepare(`select type, name, sql from sqlite_master where name not like 'sqlite\\_%' escape '\\'`)
    .all()
  const own = rows.filter(({ name }) => !otherTables.has(String(name)))
  return new Map(
    own.map(({ type, name, sql }) => {
      const text = type === 'table' ? columnsOf(database, String(name)) : String(sql).replaceAll(/\s+/g, ' ')
      return [`${String(type)} ${String(name)}`, text]
    }),
  )
}

function columnsOf(database: DatabaseSync, table: string): string {
  const sql = 'select name, type, "notnull", dflt_value, pk, hidden from pragma_table_xinfo(?) order by cid'
  return JSON.stringify(database.prepare(sql).all(table))
}
