/** Strings, quoted names and comments are tokens of their own, so that only the code between them is translated. */
const tokens = /'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'";/-]+|[/-]/g

const postgresTypes: Readonly<Record<string, string>> = {
  INTEGER: 'bigint',
  TEXT: 'text',
  BLOB: 'bytea',
  REAL: 'double precision',
  STRICT: '',
}

/** The statements of a migration file, in the dialect of the engine. */
export function toStatements(sql: string, engine: 'sqlite' | 'postgres'): string[] {
  const statements = ['']
  for (const [token] of sql.matchAll(tokens)) {
    if (token === ';') statements.push('')
    else if (!token.startsWith('--') && !token.startsWith('/*'))
      statements.push(statements.pop() + inDialectOf(engine, token))
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}

/** Files use SQLite's type names in capitals. Only words in capitals are translated. */
function inDialectOf(engine: 'sqlite' | 'postgres', token: string): string {
  if (engine === 'sqlite' || /^['"]/.test(token)) return token
  return token.replace('STRICT, WITHOUT ROWID', '').replace(/\b[A-Z]+\b/g, (word) => postgresTypes[word] ?? word)
}
