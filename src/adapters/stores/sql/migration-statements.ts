/** Strings, quoted names and comments are tokens of their own, so that only the code between them is translated. */
const tokens = /\$([a-z]*)\$[\s\S]*?\$\1\$|'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'";/$-]+|[/$-]/g

type Engine = 'sqlite' | 'postgres'

/** A comment before statements that only one engine runs. It holds until the next such comment. */
const marker = /^-- engine: (sqlite|postgres|both)$/

const postgresTypes: Readonly<Record<string, string>> = {
  INTEGER: 'bigint',
  TEXT: 'text',
  BLOB: 'bytea',
  REAL: 'double precision',
  STRICT: '',
}

/** The statements of a migration file, in the dialect of the engine. */
export function toStatements(sql: string, engine: Engine): string[] {
  const statements = ['']
  let runs = true
  for (const [token] of sql.matchAll(tokens)) {
    const [, only] = marker.exec(token) ?? []
    if (only !== undefined) runs = only === engine || only === 'both'
    else if (token === ';') statements.push('')
    else if (runs && !token.startsWith('--') && !token.startsWith('/*'))
      statements.push(statements.pop() + inDialectOf(engine, token))
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}

/** Files use SQLite's type names in capitals. Only words in capitals are translated. */
function inDialectOf(engine: Engine, token: string): string {
  if (engine === 'sqlite' || /^(['"]|\$[a-z]*\$)/.test(token)) return token
  return token.replace('STRICT, WITHOUT ROWID', '').replace(/\b[A-Z]+\b/g, (word) => postgresTypes[word] ?? word)
}
