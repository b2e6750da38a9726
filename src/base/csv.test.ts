import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvLine } from './csv.ts'

describe('a line of CSV', () => {
  it('quotes commas, quotation marks and line ends', () => {
    assert.equal(csvLine(['a,b', 'say "no"', 'two\r\nlines', 'plain']), '"a,b","say ""no""","two\r\nlines",plain\r\n')
  })

  it('has no text that a spreadsheet runs as a formula', () => {
    for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1'])
      assert.match(csvLine([text]), /^"?'/, JSON.stringify(text))
    assert.equal(csvLine(['=HYPERLINK("http://x")']), `"'=HYPERLINK(""http://x"")"\r\n`)
  })

  it('keeps numbers, and leaves nothing for null', () => {
    assert.equal(csvLine([-1.5, true, null, '']), '-1.5,true,,\r\n')
  })
})
