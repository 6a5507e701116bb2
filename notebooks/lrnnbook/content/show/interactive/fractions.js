// Exact fractions in a page: [numerator, denominator], two BigInts in lowest terms, the denominator positive.

const divisor = (a, b) => { while (b) [a, b] = [b, a % b]; return a < 0n ? -a : a; };
const fraction = (over, under = 1n) => {
  const by = divisor(over, under) * (under < 0n ? -1n : 1n);
  return [over / by, under / by];
};
const plus = ([a, b], [c, d]) => (b === 1n && d === 1n ? [a + c, 1n] : fraction(a * d + c * b, b * d));
const by = ([a, b], [c, d]) => (b === 1n && d === 1n ? [a * c, 1n] : fraction(a * c, b * d));
const writtenFraction = ([a, b]) => (b === 1n ? String(a) : `${a}/${b}`);

// The fraction of a text: -3, 1/2, and a decimal for the fraction that it is.
const fractionOf = text => {
  const found = /^([+-]?)([0-9]{1,30})(?:\/([0-9]{1,30})|\.([0-9]{1,30}))?$/.exec(text);
  if (!found || (found[3] && !BigInt(found[3]))) throw new Error(`${text} is no fraction: write -3, 1/2 or 0.25`);
  const [, sign, whole, under, decimals = ""] = found;
  return fraction(BigInt(`${whole}${decimals}`) * (sign === "-" ? -1n : 1n), under ? BigInt(under) : 10n ** BigInt(decimals.length));
};

// How many of the rows are linearly independent.
const rankOf = rows => {
  const reduced = [];
  for (let row of rows) {
    for (const [lead, other] of reduced) {
      const factor = fraction(-row[lead][0], row[lead][1]);
      if (factor[0]) row = row.map((value, i) => plus(value, by(factor, other[i])));
    }
    const lead = row.findIndex(([over]) => over);
    if (lead >= 0) reduced.push([lead, row.map(value => by(value, fraction(row[lead][1], row[lead][0])))]);
  }
  return reduced.length;
};
