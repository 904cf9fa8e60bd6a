// The cumulative normal distribution, by Hastings' polynomial.
float distribution(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float polynomial =
        k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228040143267794f * exp(-0.5f * d * d) * polynomial;
    return d > 0.0f ? 1.0f - tail : tail;
}

// Prices of European options.
kernel void price(global const float *restrict prices, global const float *restrict strikes,
                  global const float *restrict years, float rate, float volatility, global float *restrict calls,
                  global float *restrict puts)
{
    size_t i = get_global_id(0);
    float price = prices[i], strike = strikes[i], time = years[i];
    float deviation = volatility * sqrt(time);
    float d1 = (log(price / strike) + (rate + 0.5f * volatility * volatility) * time) / deviation;
    float d2 = d1 - deviation;
    float first = distribution(d1), second = distribution(d2);
    float discounted = strike * exp(-rate * time);
    calls[i] = price * first - discounted * second;
    puts[i] = discounted * (1.0f - second) - price * (1.0f - first);
}
