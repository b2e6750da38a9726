import { faultCodes } from '../../src/base/fault.ts'

export function errorsPage(): string {
  const rows = Object.entries(faultCodes).map(([code, sentence]) => `| \`${code}\` | ${sentence} |`)
  return `# Error codes

Every error response has one of these codes, in the format of its endpoint family. The same list is served at \`/docs/errors\`,
which \`doc_url\` links to. This page is generated from the code with \`npm run generate\`.

| Code | Meaning |
|---|---|
${rows.join('\n')}
`
}
