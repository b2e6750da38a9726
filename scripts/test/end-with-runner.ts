// Loaded into every test process, to end it together with the runner. The runner holds the other end of its standard input
// and never writes to it, so the end of the input means that the runner has ended.
import { Socket } from 'node:net'

if (process.stdin instanceof Socket) {
  process.stdin.on('end', () => process.exit(1))
  process.stdin.resume()
  process.stdin.unref() // must not keep a finished test process alive
}
