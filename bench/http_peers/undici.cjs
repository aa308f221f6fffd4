// node undici.cjs URL COUNT AT_ONCE: prints how many seconds so many requests took.
const { Pool } = require('undici')

async function main() {
  const [url, count, atOnce] = process.argv.slice(2)
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: Number(atOnce), pipelining: 1 })
  let left = Number(count)
  const began = process.hrtime.bigint()
  const work = async () => {
    while (left-- > 0) {
      const { statusCode, body } = await pool.request({ path: pathname, method: 'GET' })
      await body.text()
      if (statusCode !== 200) throw new Error(`answered ${statusCode}`)
    }
  }
  await Promise.all(Array.from({ length: Number(atOnce) }, work))
  console.log(Number(process.hrtime.bigint() - began) / 1e9)
  await pool.close()
}

main()
