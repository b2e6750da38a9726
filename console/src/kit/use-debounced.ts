import { useEffect, useState } from 'react'

const pauseMs = 300

/** The value after nothing changed it for 300 ms, so that a server is not called for each key. */
export function useDebounced<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  const key = JSON.stringify(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
    // The serialized value decides, because callers build a new object at each render.
  }, [key])
  return settled
}
