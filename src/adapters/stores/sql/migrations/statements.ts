/** Strings, quoted names and comments are left alone; everything between them is code. */
const tokens = /'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'";/-]+|[/-]/g

const postgresWords: Readonly<Record<string, string>> = {
  INTEGER: 'bigint',
  TEXT: 'text',
  BLOB: 'bytea',
  REAL: 'double precision',
  STRICT: '',
}

/** The statements of a migration file, in the words of the engine. */
export function toStatements(sql: string, engine: 'sqlite' | 'postgres'): string[] {
  const statements = ['']
  for (const [token] of sql.matchAll(tokens)) {
    if (token === ';') statements.push('')
    else if (!token.startsWith('--') && !token.startsWith('/*'))
      statements.push(statements.pop() + inWordsOf(engine, token))
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}

/** Files are written in SQLite's words, in capitals: only those are types. */
function inWordsOf(engine: 'sqlite' | 'postgres', token: string): string {
  if (engine === 'sqlite' || /^['"]/.test(token)) return token
  return token.replace(/\b[A-Z]+\b/g, (word) => postgresWords[word] ?? word)
}
