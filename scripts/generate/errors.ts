import { faultCodes } from '../../src/base/fault.ts'

export function errorsPage(): string {
  const rows = Object.entries(faultCodes).map(([code, sentence]) => `| \`${code}\` | ${sentence} |`)
  return `# Error codes

Every refusal carries one of these codes, in the shape of its endpoint family. The same list is served at \`/docs/errors\`, where
\`doc_url\` points. This page is generated from the code with \`npm run generate\`.

| Code | Meaning |
|---|---|
${rows.join('\n')}
`
}
